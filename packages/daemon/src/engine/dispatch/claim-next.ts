import type { CommandOf, Reply } from '@tidemill/core';
import type { Store } from '../../ports.ts';

/** Candidates looked at per claim; more only when all of the first are held back by file scopes. */
const WINDOWS = [2, 64, 2048];

/** The one way to a task, for whoever wants one. The command is asked for anew each time: things may have changed. */
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
