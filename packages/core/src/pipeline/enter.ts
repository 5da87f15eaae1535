import type { BlockReason, EventBody, ProjectRules, Task } from '@tidemill/contract';
import { hasPassed } from '../gate/evidence.ts';
import { taskGates } from '../gate/task-gate.ts';
import type { Slice } from '../slice.ts';
import { gatesOf } from './stage.ts';

export interface Entry {
  to: string;
  because: string;
  /** The tree that the previous stage ended with. Only its evidence is loaded, so only it can skip a verify stage. */
  tree?: string;
  /** Used when `to` is blocked. */
  block?: { reason: BlockReason; text: string };
}

/**
 * Moves a task to the next stage and skips stages that need no work: a plan review that is not configured, a verify stage
 * whose evidence exists for this tree. Only this function changes a task's stage.
 */
export function enter(slice: Slice, rules: ProjectRules, task: Task, entry: Entry): EventBody[] {
  const events: EventBody[] = [];
  let from = task.stage;
  let to = entry.to;
  let because = entry.because;
  const passed = new Set<string>();
  // Terminates: no stage is skipped twice.
  for (;;) {
    if (to === 'blocked' || passed.has(to)) {
      const block = entry.block ?? { reason: 'no_transition' as const, text: because };
      return [...events, { type: 'task.blocked', taskId: task.id, from, ...block }];
    }
    passed.add(to);
    const stage = rules.pipelines[task.pipeline]?.stages[to];
    if (stage?.actor === 'human' && stage.onlyIfPlansAreReviewed && !arePlansReviewed(rules, task)) {
      to = stage.on.approved;
      continue;
    }
    events.push({ type: 'task.moved', taskId: task.id, from, to, because });
    if (to === 'done') return [...events, ...meetDependents(slice, task)];
    const isProven =
      stage?.actor === 'system' &&
      stage.does === 'verify' &&
      entry.tree !== undefined &&
      entry.tree === task.head?.tree &&
      hasPassed(slice, { id: task.projectId, rules }, entry.tree, {
        gates: gatesOf(rules, stage),
        own: taskGates(task),
      });
    if (!isProven) return events;
    from = to;
    to = stage.on.approved;
    because = 'every gate has already passed for this tree';
  }
}

/** An autonomy that requires approval for everything includes plans. */
export function arePlansReviewed(rules: ProjectRules, task: Task): boolean {
  const { scopeChanges, architectureDecisions } = task.hilConfig ?? rules.hilConfig;
  return rules.reviewPlans || (scopeChanges === 'requires_approval' && architectureDecisions === 'requires_approval');
}

function meetDependents(slice: Slice, task: Task): EventBody[] {
  return slice
    .list('dependentsOf', task.id)
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map((dependent) => ({ type: 'task.dependency_met', taskId: dependent.id, dependency: task.id }));
}
