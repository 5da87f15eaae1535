import type { ProjectRules, Stage, Task } from '@tidemill/contract';

/**
 * What a reviewer judges a task by:
 *
 *   criteria   its acceptance criteria
 *   asked      none yet, and a person confirms everything: they are asked after the plan, before anything is built
 *   derived    none: the reviewer derives them from the title and the description
 *   gates      nothing: its pipeline has no review
 */
export type JudgedBy = 'criteria' | 'asked' | 'derived' | 'gates';

export type Judged = Pick<Task, 'title' | 'body' | 'pipeline' | 'hilConfig'> & { criteria: readonly unknown[] };

export function judgedBy(rules: ProjectRules, task: Judged): JudgedBy {
  const stages = Object.values(rules.pipelines[task.pipeline]?.stages ?? {});
  if (!stages.some((stage) => isAgent(stage, 'review'))) return 'gates';
  if (task.criteria.length > 0) return 'criteria';
  const isPlanned = stages.some((stage) => isAgent(stage, 'plan') || isAgent(stage, 'investigate'));
  return isPlanned && isConfirmed(rules, task) ? 'asked' : 'derived';
}

const isAgent = (stage: Stage, mode: string) => stage.actor === 'agent' && stage.mode === mode;

/** The person decides everything: see the preset confirm_all. */
const isConfirmed = (rules: ProjectRules, task: Judged) =>
  Object.values(task.hilConfig ?? rules.hilConfig).every((approval) => approval === 'requires_approval');
