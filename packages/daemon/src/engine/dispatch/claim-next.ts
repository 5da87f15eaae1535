import type { CommandOf, Reply } from '@tidemill/core';
import type { Store } from '../../ports.ts';

/**
 * Candidates examined per claim. A larger window is used only when file scopes block all candidates of the smaller one.
 */
const WINDOWS = [2, 64, 2048];

/** The only way to claim a task. `claimWithin` builds each command from current state. */
export async function claimNext(
  store: Pick<Store, 'execute'>,
  claimWithin: (window: number) => CommandOf<'work.claim'>,
): Promise<Reply> {
  let reply: Reply | undefined;
  for (const window of WINDOWS) {
    reply = await store.execute(claimWithin(window));
    if (reply.ok || reply.refusal.code !== 'window_exhausted') break;
  }
  return reply!;
}
