import { AppError } from '@tidemill/contract';
import type { Command, ReplyToAll } from '@tidemill/core';
import type { Store } from '../../ports.ts';

type Done = Extract<ReplyToAll, { ok: true }>;

/** All commands in one transaction. A refusal throws, and no command takes effect. */
export async function executeTogether(store: Store, commands: readonly Command[]): Promise<Done['replies']> {
  const reply = await store.executeAll(commands);
  if (reply.ok) return reply.replies;
  const { code, message, hint } = reply.refusal;
  throw new AppError(code, message, { hint });
}

/** The same, but skips refused commands: their subjects have changed meanwhile. Returns the accepted commands. */
export async function executeAccepted<C extends Command>(store: Store, commands: readonly C[]): Promise<C[]> {
  const left = [...commands];
  for (;;) {
    const reply = await store.executeAll(left);
    if (reply.ok) return left;
    left.splice(reply.index, 1);
  }
}
