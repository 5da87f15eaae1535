import type { MatterContents } from '@tidemill/contract';
import type { Fence, StageEnd } from '../command.ts';
import type { Deciding } from '../gate/deciding/changed-file.ts';
import type { CommandParts } from '../noun.ts';
import { askingTask, endingStage, leasedTask, taskAlone, workAndPaidRun } from '../task-lookup.ts';
import { holdStage } from './hold.ts';
import { commitWork, finishStage, noteSnapshot, waitInStage } from './stage.ts';

export interface StageCommands {
  /** `touches`: the verified content, where a person had to approve it. */
  'stage.finish': { touches?: MatterContents } & StageEnd;
  /** `isPassing`: it is retried automatically, and no person needs to act. */
  'stage.wait': { why: string; untilMs: number; isPassing?: boolean } & Fence;
  /** Files that decide what gates check were changed and nobody reviews them: holds the task until a person approves. */
  'stage.hold': { files: Deciding[] } & Fence;
  'work.commit': { commit: string; tree: string; notes: string[] } & Fence;
  'snapshot.note': { taskId: string; ref: string; why: string };
}

export const stageCommands: CommandParts<keyof StageCommands> = {
  'stage.finish': { scope: endingStage, decide: finishStage },
  'stage.wait': { scope: workAndPaidRun, decide: waitInStage },
  'stage.hold': { scope: askingTask, decide: holdStage },
  'work.commit': { scope: leasedTask, decide: commitWork },
  'snapshot.note': { scope: taskAlone, decide: noteSnapshot },
};
