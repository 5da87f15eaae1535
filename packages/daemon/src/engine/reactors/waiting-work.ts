import { engineActor, type Mode, type Task, type Worker } from '@tidemill/contract';
import { type HeldTasks, isReady, REVIEW_LONG_MS, type WaitingReview } from '@tidemill/core';
import type { Workload } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

export const SUPERVISOR = engineActor('supervisor');
/** More are not named in an alert anyway. */
const MOST = 200;

/** Tasks that wait for a cancelled or a blocked task, by that task. Reads nothing while there is none. */
export async function heldTasks({ store, project }: EngineDeps, { byStage }: Workload): Promise<HeldTasks[]> {
  const stages = ['cancelled', 'blocked'].filter((stage) => (byStage[stage] ?? 0) > 0);
  if (stages.length === 0 || (byStage.open ?? 0) === 0) return [];
  const { id: projectId } = project;
  const open = await store.tasks({ projectId, stages: ['open'], limit: MOST, isStranded: true });
  const blocked = stages.includes('blocked') ? await store.tasks({ projectId, stages: ['blocked'], limit: MOST }) : [];
  const behind =
    blocked.length === 0
      ? []
      : await store.tasks({ projectId, stages: ['open'], waitingFor: blocked.map(({ id }) => id), limit: MOST });
  const waiting = [...new Map([...open, ...behind].map((task) => [task.id, task])).values()];
  const ids = [...new Set(waiting.flatMap(({ dependsOn }) => dependsOn))];
  const dependencies = ids.length === 0 ? [] : await store.tasks({ projectId, ids, stages });
  return dependencies.map((dependency) => ({
    dependency,
    waiting: waiting.filter(({ dependsOn }) => dependsOn.includes(dependency.id)).map(({ number }) => number),
  }));
}

interface ReviewSight {
  now: number;
  load: Workload;
  workers: Worker[];
  leased: Task[];
  restingModes: Mode[];
  isOverBudget: boolean;
}

/** Reviews that nobody has begun for long, each with the reason. */
export async function waitingReviews({ store, project }: EngineDeps, sight: ReviewSight): Promise<WaitingReview[]> {
  const { rules, id: projectId } = project;
  const all = Object.values(rules.pipelines).flatMap((pipeline) => Object.entries(pipeline.stages));
  const names = all.flatMap(([name, stage]) => (stage.actor === 'agent' && stage.mode === 'review' ? [name] : []));
  const stages = [...new Set(names)].filter((name) => (sight.load.byStage[name] ?? 0) > 0);
  if (stages.length === 0) return [];
  const found = await store.tasks({ projectId, stages, limit: MOST });
  const late = found.filter(
    (task) => isReady(task) && task.role === 'reviewer' && sight.now - task.stageSince >= REVIEW_LONG_MS,
  );
  return late.map((task) => ({ task, why: whyNot(task, sight) }));
}

function whyNot(task: Task, { now, workers, leased, restingModes, isOverBudget }: ReviewSight): string {
  const reviewers = workers.filter(({ role, isOutside }) => role === 'reviewer' && !isOutside);
  const running = reviewers.filter(({ desired }) => desired === 'running');
  const [first] = reviewers;
  if (!first) return 'there is no reviewer. Start the daemon with `tidemill up`.';
  if (running.length === 0)
    return `${first.name} is ${first.desired}. Let it work with \`tidemill workers resume ${first.name}\`.`;
  if (restingModes.includes('review'))
    return 'its agent is in backoff after an error of its vendor. The inbox and `tidemill agents` say what it needs.';
  if (isOverBudget) return 'the budget is exhausted. `tidemill budget` shows the limits.';
  if (task.waiting !== null) return task.waiting;
  if (task.notBefore > now) return 'it is in backoff after a failure, and is tried again automatically.';
  const busy = leased.find(({ lease }) => running.some(({ id }) => id === lease?.workerId));
  if (busy) return `the reviewer is busy with #${busy.number}. If that is stuck, restart ${first.name}.`;
  return `${first.name} has not taken it. Restart it with \`tidemill workers restart ${first.name}\`.`;
}
