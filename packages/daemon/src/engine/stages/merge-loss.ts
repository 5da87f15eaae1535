import { type Feedback, lossText, type MergeLoss } from '@tidemill/contract';
import type { EngineDeps } from '../deps.ts';
import type { LeasedTask } from '../workers/leased-work.ts';

/** How the check is called among the gates that send work back. */
export const MERGE_LOSS = 'merge loss';
/** Lines of each file that an agent is shown. */
const MOST_LINES = 60;

/** What merges dropped of the target and no person accepted. */
export async function openLosses({ workspace }: EngineDeps, { ref, task }: LeasedTask): Promise<MergeLoss[]> {
  const losses = await workspace.mergeLosses(ref);
  return losses.filter(({ content }) => !task.acceptedLosses.includes(content));
}

/**
 * Vetoes work that dropped something of the target: it waits for a person, who accepts exactly that or sends it back.
 * Returns true when the lease was released.
 */
export async function vetoLosses(deps: EngineDeps, leased: LeasedTask): Promise<boolean> {
  const losses = await openLosses(deps, leased);
  if (losses.length === 0) return false;
  const reply = await leased.execute({ type: 'stage.veto', losses });
  if (!reply.ok) throw new Error(`stage.veto was refused: ${reply.refusal.message}`);
  return reply.task?.lease?.token !== leased.token;
}

/** For the agent that resolved the conflict. */
export function lossFeedback({ project }: EngineDeps, losses: MergeLoss[]): Feedback {
  const { target } = project.rules;
  const text = [
    `Your resolution of the conflict drops changes that ${target} has. Put them back, combined with your own change:`,
    lossText(losses, target, MOST_LINES),
    `Moving, re-indenting or combining them is fine. If one of them must go, say why in your result: a person is asked before it lands.`,
  ].join('\n');
  return { kind: 'gate', text, files: [...new Set(losses.map(({ path }) => path))] };
}
