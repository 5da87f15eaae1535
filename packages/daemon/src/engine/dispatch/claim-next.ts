import type { Role } from '@tidemill/contract';
import type { CommandOf, Reply } from '@tidemill/core';
import type { Store } from '../../ports.ts';

/**
 * Candidates examined per claim. A larger window is used only when file scopes block all candidates of the smaller one.
 */
const WINDOWS = [2, 64, 2048];
/** Which of the waiting tasks lands first depends on the others. */
const LANDING_WINDOWS = [64];

/** The only way to claim a task. `claimWithin` builds each command from current state. */
export async function claimNext(
  store: Pick<Store, 'execute'>,
  role: Role,
  claimWithin: (window: number) => CommandOf<'work.claim'>,
): Promise<Reply> {
  let reply: Reply | undefined;
  for (const window of role === 'merger' ? LANDING_WINDOWS : WINDOWS) {
    reply = await store.execute(claimWithin(window));
    if (reply.ok || reply.refusal.code !== 'window_exhausted') break;
  }
  return reply!;
}
