import type { Feedback } from '@tidemill/contract';
import type { EngineDeps } from '../deps.ts';
import type { Proof } from '../stages/prove.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import { foundConflict } from './overtaken.ts';

/** Ends the merge stage of a task that cannot land as it is. */

/** It passes alone and fails on the target. Its agent gets the target merged into the worktree, to reproduce it. */
export async function sendBackWithTarget(
  deps: EngineDeps,
  leased: LeasedTask,
  proof: Extract<Proof, { kind: 'failed' }>,
  landedJustNow: LeasedTask[],
): Promise<void> {
  const { target } = deps.project.rules;
  const others = landedJustNow.map(({ task }) => `#${task.number} ${task.title}`).join(', ');
  const text =
    `Your change passes its gates alone, but together with the newest ${target} it fails ${proof.gates.join(', ')}. ` +
    `${target} is now merged into your worktree, so that you can reproduce it there.` +
    (others ? ` Just landed before it: ${others}.` : '') +
    ` Change your work so that it fits to ${target}; drop nothing of ${target}.`;
  const feedback: Feedback[] = [{ kind: 'gate', text, files: [], needsTarget: true }, ...proof.feedback];
  const message = `With the newest ${target} merged, gates fail. (${proof.gates.join(', ')})`;
  await leased.must({ type: 'stage.finish', outcome: 'failed', failure: 'validation', message, feedback });
}

export async function sendBackConflict(
  deps: EngineDeps,
  leased: LeasedTask,
  found: { base: string; files: string[] },
): Promise<void> {
  const { files } = found;
  const text = conflictText(deps, files);
  await leased.must({
    type: 'stage.finish',
    outcome: 'conflicts_detected',
    message: text,
    feedback: [{ kind: 'conflict', text, files }],
    conflict: await foundConflict(deps, leased, found),
  });
}

export const conflictText = ({ project }: Pick<EngineDeps, 'project'>, files: string[]): string => {
  const { target } = project.rules;
  return `Your change conflicts with the newest ${target} in ${files.join(', ')}. The merge is under way in your worktree: resolve the markers, keep both sides' intent, drop nothing of ${target}.`;
};

export async function endAsEmpty(leased: LeasedTask): Promise<void> {
  const message = 'the target already contains all changes';
  await leased.must({ type: 'stage.finish', outcome: 'no_changes', message });
}
