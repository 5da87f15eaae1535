import { type Replay, type ReplayRun, replayRunId } from '@tidemill/contract';

export interface PlannedRun {
  id: string;
  taskId: string;
  variant: number;
  repeat: number;
}

/**
 * All runs of a replay in their order: the variants of a task one after the other, beginning with another one each time.
 * So a vendor that is slow or weak at one hour treats the variants alike, and a replay that is stopped has whole pairs.
 */
function plannedRuns({ id, tasks, variants, repeats }: Replay): PlannedRun[] {
  const planned: PlannedRun[] = [];
  for (let repeat = 0; repeat < repeats; repeat += 1)
    for (const [position, { taskId }] of tasks.entries())
      for (let turn = 0; turn < variants.length; turn += 1) {
        const variant = (turn + position + repeat) % variants.length;
        planned.push({ id: replayRunId(id, taskId, variant, repeat), taskId, variant, repeat });
      }
  return planned;
}

/** The runs that were not asked for yet. */
export function leftOf(replay: Replay, runs: readonly Pick<ReplayRun, 'id'>[]): PlannedRun[] {
  const asked = new Set(runs.map(({ id }) => id));
  return plannedRuns(replay).filter(({ id }) => !asked.has(id));
}
