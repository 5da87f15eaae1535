import { isBuilding, type LessonVerdict, type Run, type Task } from '@tidemill/contract';

export interface Measured {
  verdict: LessonVerdict;
  why: string;
}

/**
 * How a run ended, as gates and reviews measured it; null while that is open. What its agent says does not count, and
 * trouble of the machine, the vendor or the settings shows nothing.
 */
export function measured(run: Run, task: Pick<Task, 'stage' | 'landedCommit'>, runs: readonly Run[]): Measured | null {
  if (run.status === 'running') return null;
  if (!isBuilding(run.mode)) return { verdict: 'neither', why: 'the run changes no files' };
  if (run.validationRetries > 0)
    return { verdict: 'hurt', why: `gates sent the agent back ${times(run.validationRetries)}` };
  if (run.outcome === 'failed' && (run.failure === 'validation' || run.failure === 'no_progress'))
    return { verdict: 'hurt', why: 'gates failed' };
  if (run.outcome !== 'pr_ready')
    return { verdict: 'neither', why: `the run ended as ${run.failure ?? run.outcome}, which no gate measured` };
  const review = runs.find(
    ({ mode, outcome, startedAt }) =>
      mode === 'review' && startedAt >= run.startedAt && (outcome === 'approved' || outcome === 'changes_requested'),
  );
  if (review?.outcome === 'changes_requested') return { verdict: 'hurt', why: 'the review asked for changes' };
  if (review) return { verdict: 'helped', why: 'every gate passed at once, and the review approved it' };
  if (task.landedCommit !== null) return { verdict: 'helped', why: 'every gate passed at once, and it landed' };
  return task.stage === 'cancelled' ? { verdict: 'neither', why: 'the task was cancelled' } : null;
}

const times = (count: number) => (count === 1 ? 'once' : `${count} times`);
