import { MODES, type ProjectRules, type Stage, type Task } from '@tidemill/contract';
import { isSeen } from './review.ts';

/**
 * Nobody plans in this pipeline, and no person looks at the change before it lands. Where a person must agree to each
 * plan, the change itself takes the place of the plan: all of it counts as a change of scope.
 */
export function isUnplanned(rules: ProjectRules, task: Pick<Task, 'pipeline' | 'hilConfig'>): boolean {
  const { scopeChanges, architectureDecisions } = task.hilConfig ?? rules.hilConfig;
  if (scopeChanges !== 'requires_approval' || architectureDecisions !== 'requires_approval') return false;
  const stages = Object.values(rules.pipelines[task.pipeline]?.stages ?? {});
  return !stages.some(isPlanning) && !isSeen(rules, task, ({ actor }) => actor === 'human');
}

const isPlanning = (stage: Stage) =>
  stage.actor === 'agent' && MODES[stage.mode].fields.some((field) => field === 'plan');
