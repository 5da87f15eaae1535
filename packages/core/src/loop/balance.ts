import type { Approval, LoopConfig, ProjectRules } from '@tidemill/contract';

/** Whether a person approves the loop's proposals. */
export const approvalOf = ({ loop, hilConfig }: Pick<ProjectRules, 'loop' | 'hilConfig'>): Approval =>
  loop.approval ?? hilConfig.scopeChanges;

/**
 * Whether to propose now. Where a person approves each proposal, it proposes while fewer than `min` wait: more would cost
 * money before anybody has looked at the first ones. Where proposals become tasks by themselves, it begins at `min`,
 * before the next claim makes the queue too short, and goes on up to the middle between `min` and `max`.
 */
export function isFilling(
  depth: number,
  wasFilling: boolean,
  { min, max }: Pick<LoopConfig, 'min' | 'max'>,
  approval: Approval,
): boolean {
  if (depth < min) return true;
  if (approval === 'requires_approval' || depth > max) return false;
  return depth === min || (wasFilling && depth < Math.ceil((min + max) / 2));
}
