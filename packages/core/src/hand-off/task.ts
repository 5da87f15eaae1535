import {
  type AgentEnvelope,
  type ContextEntry,
  type EventBody,
  type HandOff,
  type HandOffRole,
  isBuilding,
  MODES,
  type Outcome,
  type ProjectRules,
  type Run,
  type Task,
} from '@tidemill/contract';
import { stageNamed } from '../pipeline/stage.ts';
import { distil, distilledText } from './distil.ts';
import { ROLE_OF } from './role.ts';

/** A task moves on within minutes; after a day its surroundings may be different. */
const DEADLINE_MS = 24 * 3_600_000;
const MOST_CRITERIA = 8;
const CRITERION_CHARS = 120;

export interface RunOutput {
  run: Run;
  outcome: Outcome;
  envelope: AgentEnvelope;
  /** The files that the run changed. */
  files: readonly string[];
  /** The stage after it. */
  stage: string;
}

/** What a run of a task passes to the next stage; nothing when it says nothing. */
export function handedOff(rules: ProjectRules, task: Task, output: RunOutput, now: number): EventBody[] {
  const handOff = taskHandOff(rules, task, output, now);
  if (distilledText(handOff.distilled!) === '') return [];
  const { run, outcome } = output;
  const isReview = run.mode === 'review';
  const verdict = outcome === 'approved' ? 'review_approved' : 'review_feedback';
  return [
    {
      type: 'task.handed_off',
      taskId: task.id,
      runId: run.id,
      source: isReview ? 'reviewer' : 'agent',
      entryType: isReview ? verdict : MODES[run.mode].note,
      handOff,
    },
  ];
}

/** The hand-off as later runs of the task read it. */
export function entryOf(body: Extract<EventBody, { type: 'task.handed_off' }>, at: number): ContextEntry {
  const { runId, source, entryType, handOff } = body;
  const { distilled } = handOff;
  if (!distilled) return { runId, source, entryType, summary: '', at };
  return { runId, source, entryType, summary: distilledText(distilled), said: distilled.summary, at };
}

function taskHandOff(rules: ProjectRules, task: Task, output: RunOutput, now: number): HandOff {
  const { run, outcome, envelope, files, stage } = output;
  const { mode } = run;
  const hasPlan = envelope.plan !== undefined || task.plan !== '';
  const tree = isBuilding(mode) && task.head ? task.head.tree : null;
  return {
    id: `handoff_${run.id}`,
    from: ROLE_OF[mode],
    to: receiverOf(rules, task, stage),
    stage,
    precondition: [
      'in_stage',
      ...(hasPlan ? ['plan_written' as const] : []),
      ...(tree ? ['work_committed' as const] : []),
    ],
    artifacts: [
      { kind: 'branch', ref: task.branch },
      ...(hasPlan ? [{ kind: 'plan' as const, ref: task.id }] : []),
      ...(tree ? [{ kind: 'tree' as const, ref: tree }] : []),
    ],
    successCriteria: task.criteria
      .slice(0, MOST_CRITERIA)
      .map(({ id, text }) => `${id}: ${text.slice(0, CRITERION_CHARS)}`),
    nextRole: nextRoleOf(rules, task, stage),
    rollback: rollbackOf(rules, task, stage),
    deadline: now + DEADLINE_MS,
    distilled: distil(envelope, outcome === 'changes_requested', files),
  };
}

/** They let the work through as it is, so the next agent takes over what they got. */
const passed: HandOffRole[] = ['gates', 'merger', 'person'];

/** Why the receiver cannot rely on a hand-off; null when it can. */
export function problemOfHandOff(handOff: HandOff, task: Task, now: number): string | null {
  if (now > handOff.deadline) return 'it was handed over too long ago';
  for (const each of handOff.precondition) {
    if (each === 'in_stage' && !passed.includes(handOff.to) && task.stage !== handOff.stage)
      return `it is for the stage ${handOff.stage}`;
    if (each === 'plan_written' && task.plan === '') return 'there is no plan';
    if (each === 'work_committed' && task.head === null) return 'no work is committed';
  }
  return null;
}

function receiverOf(rules: ProjectRules, task: Task, name: string): HandOffRole {
  const stage = stageNamed(rules, task, name);
  if (!stage) return name === 'blocked' || name === 'needs_info' ? 'person' : 'engine';
  if (stage.actor === 'human') return 'person';
  if (stage.actor === 'agent') return ROLE_OF[stage.mode];
  return stage.does === 'verify' ? 'gates' : 'merger';
}

function nextRoleOf(rules: ProjectRules, task: Task, name: string): HandOffRole | null {
  const [next] = targetsOf(rules, task, name);
  return next === undefined ? null : receiverOf(rules, task, next);
}

/** The stage that gets the work back; the stage itself is repeated where the pipeline names none. */
function rollbackOf(rules: ProjectRules, task: Task, name: string): string {
  const stage = stageNamed(rules, task, name);
  const on: Partial<Record<Outcome, string>> = stage?.on ?? {};
  return on.failed ?? on.changes_requested ?? name;
}

const targetsOf = (rules: ProjectRules, task: Task, name: string): string[] =>
  Object.values(stageNamed(rules, task, name)?.on ?? {});
