import type { ProjectRules, Stage, Task } from '@tidemill/contract';
import { arePlansReviewed } from './enter.ts';

/**
 * Is every change reviewed before it lands? True when every path from a building agent to the merge includes a review or
 * a person.
 */
export const isReviewed = (rules: ProjectRules, task: Task): boolean =>
  isSeen(rules, task, (stage) => isLook(stage, rules, task));

/** Does every path from a building agent to the merge include a stage of this kind? */
export function isSeen(
  rules: ProjectRules,
  task: Pick<Task, 'pipeline'>,
  isOfKind: (stage: Stage) => boolean,
): boolean {
  const stages = rules.pipelines[task.pipeline]?.stages ?? {};
  const isBuilder = (stage: Stage) => stage.actor === 'agent' && stage.mode !== 'review';
  const pending = Object.keys(stages).filter((name) => isBuilder(stages[name]!));
  const seen = new Set<string>();
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const stage = stages[name];
    if (!stage || seen.has(name) || isOfKind(stage)) continue;
    if (stage.actor === 'system' && stage.does === 'merge') return false;
    seen.add(name);
    pending.push(...Object.values(stage.on));
  }
  return true;
}

function isLook(stage: Stage, rules: ProjectRules, task: Task): boolean {
  if (stage.actor === 'human') return !stage.onlyIfPlansAreReviewed || arePlansReviewed(rules, task);
  return stage.actor === 'agent' && stage.mode === 'review';
}
