import type {
  AgentEnvelope,
  ApprovalMatter,
  AskedQuestion,
  MatterContents,
  Mode,
  ProgressChange,
  RecordedCall,
  Usage,
} from '@tidemill/contract';
import { accountsOf } from '../budget/lookup.ts';
import type { Fence, StageEnd } from '../command.ts';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { askInRun, askingSubject } from '../question/ask.ts';
import { askingTask, endingStage, workAndPaidRun } from '../task-lookup.ts';
import { workAndRun } from '../work.ts';
import {
  briefRun,
  denyInRun,
  finishRun,
  progressRun,
  recordSession,
  sendBackRun,
  spendInRun,
  startRun,
} from './run.ts';

export interface RunCommands {
  /** `isFree`: its agent costs nothing, even when it reports no usage. `usualMs`: how long such runs usually take. */
  'run.start': { runId: string; mode: Mode; agent: string; isFree?: boolean; usualMs?: number } & Fence;
  /** Asked through a tool during the run. */
  'run.ask': { runId: string; questions: AskedQuestion[] } & Fence;
  'run.progress': { runId: string } & ProgressChange & Fence;
  'run.spend': { runId: string; usage: Usage } & Fence;
  /** `lessons`: what it is told that was learned. */
  'run.brief': { runId: string; promptTokens: number; dropped: string[]; lessons?: string[] } & Fence;
  'run.record_session': { runId: string; session: string } & Fence;
  'guard.deny': { runId: string; guard: string; tool: string; reason: string; call?: RecordedCall } & Fence;
  'run.send_back': { runId: string; gates: string[] } & Fence;
  'run.finish': {
    runId: string;
    envelope: AgentEnvelope | null;
    usage: Usage;
    /** The worker whose figures count this run. */
    workerId?: string;
    touches?: MatterContents;
    touchedFiles?: Partial<Record<ApprovalMatter, string[]>>;
    /** The changed files that a reviewer was shown: its evidence may name them. */
    shownFiles?: readonly string[];
    /** The files that the run changed, for anyone who works on it next. */
    files?: readonly string[];
  } & StageEnd;
}

export const runCommands: CommandParts<keyof RunCommands> = {
  'run.start': { scope: workAndPaidRun, decide: startRun },
  'run.ask': { scope: askingTask, decide: askInRun },
  'run.progress': { scope: workAndRun, decide: progressRun },
  'run.spend': {
    // An interrupted run reports its last costs late, when another run may have started.
    scope: (command) => [...workAndPaidRun(command), look('run', command.runId)],
    decide: spendInRun,
  },
  'run.brief': { scope: workAndRun, decide: briefRun },
  'run.record_session': { scope: workAndRun, decide: recordSession },
  'guard.deny': { scope: workAndRun, decide: denyInRun },
  'run.send_back': { scope: workAndRun, decide: sendBackRun },
  'run.finish': {
    scope: (command) => [
      ...(command.workerId ? [look('worker', command.workerId)] : []),
      ...endingStage(command),
      ...(command.jobId === undefined ? [] : askingSubject(command)),
      ...accountsOf(command.projectId),
    ],
    decide: finishRun,
  },
};
