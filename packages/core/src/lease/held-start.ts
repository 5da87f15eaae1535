import type { ProjectRules, Task } from '@tidemill/contract';
import { arePlansReviewed } from '../pipeline/enter.ts';

/** What is not handed out for now, although agents are free. */
export interface StartHolds {
  /** No task begins, except those that repair the target. */
  isNew: boolean;
  /** Stages of people that have enough to decide: nothing more is made for them. */
  full: string[];
}

/** Whether the task waits for people and not for an agent. */
export function isHeldStart(rules: ProjectRules, task: Task, { isNew, full }: StartHolds): boolean {
  if (isNew && task.stage === 'open' && task.repairs.length === 0) return true;
  if (full.length === 0) return false;
  return stagesAfter(rules, task).some((stage) => full.includes(stage));
}

/** The stages of people that the task's next run leads to. */
function stagesAfter(rules: ProjectRules, task: Task): string[] {
  const pipeline = rules.pipelines[task.pipeline];
  const stage = pipeline?.stages[task.stage === 'open' ? pipeline.start : task.stage];
  if (!pipeline || stage?.actor !== 'agent') return [];
  return Object.values(stage.on).filter((name) => {
    const next = pipeline.stages[name];
    return next?.actor === 'human' && (!next.onlyIfPlansAreReviewed || arePlansReviewed(rules, task));
  });
}
