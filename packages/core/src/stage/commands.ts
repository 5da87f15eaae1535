import type { ApprovalMatter, MatterContents, MergeLoss, OldChecks } from '@tidemill/contract';
import type { Fence, StageEnd } from '../command.ts';
import type { Deciding } from '../gate/deciding/changed-file.ts';
import { judgeWork } from '../gate/old-checks.ts';
import type { CommandParts } from '../noun.ts';
import type { FoundConflict } from '../pipeline/overtaken.ts';
import { askingTask, endingStage, leasedTask, taskAlone, workAndPaidRun } from '../task-lookup.ts';
import { holdStage } from './hold.ts';
import { commitWork, finishStage, noteSnapshot, returnToBuilder, waitInStage } from './stage.ts';
import { vetoStage } from './veto.ts';

export interface StageCommands {
  /** `touches`: the verified content, where a person had to approve it. */
  'stage.finish': {
    touches?: MatterContents;
    touchedFiles?: Partial<Record<ApprovalMatter, string[]>>;
    /** With the outcome `conflicts_detected`. */
    conflict?: FoundConflict;
  } & StageEnd;
  /**
   * `isPassing`: it is retried automatically, and no person needs to act. `landing`: a person's checkout is in the way.
   * While the reason stays the same, such a wait grows up to `maxMs`.
   */
  'stage.wait': { why: string; untilMs: number; isPassing?: boolean; landing?: { maxMs: number } } & Fence;
  /**
   * Files that decide what gates check were changed, and no reviewer has seen them, or what the target's versions of them
   * found: holds the task until a person approves.
   */
  'stage.hold': { files: Deciding[]; oldChecks?: OldChecks } & Fence;
  /** A merge dropped something of the target: holds the task until a person accepts it or sends it back. */
  'stage.veto': { losses: MergeLoss[] } & Fence;
  /** People said something since a builder last worked on it: the task goes back first. */
  'stage.return_to_builder': Fence;
  'work.commit': { commit: string; tree: string; notes: string[] } & Fence;
  /** Records what the target's versions of changed checks said about the work. */
  'work.judge': { oldChecks: OldChecks } & Fence;
  'snapshot.note': { taskId: string; ref: string; why: string };
}

export const stageCommands: CommandParts<keyof StageCommands> = {
  'stage.finish': { scope: endingStage, decide: finishStage },
  'stage.wait': { scope: workAndPaidRun, decide: waitInStage },
  'stage.hold': { scope: askingTask, decide: holdStage },
  'stage.veto': { scope: askingTask, decide: vetoStage },
  'stage.return_to_builder': { scope: askingTask, decide: returnToBuilder },
  'work.commit': { scope: leasedTask, decide: commitWork },
  'work.judge': { scope: leasedTask, decide: judgeWork },
  'snapshot.note': { scope: taskAlone, decide: noteSnapshot },
};
