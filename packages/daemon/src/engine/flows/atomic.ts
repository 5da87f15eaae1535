import { AppError } from '@tidemill/contract';
import type { Command, ReplyToAll } from '@tidemill/core';
import type { Store } from '../../ports.ts';

type Done = Extract<ReplyToAll, { ok: true }>;

/** All commands in one transaction. A refusal becomes an error, and nothing has happened. */
export async function executeTogether(store: Store, commands: readonly Command[]): Promise<Done['replies']> {
  const reply = await store.executeAll(commands);
  if (reply.ok) return reply.replies;
  const { code, message, hint } = reply.refusal;
  throw new AppError(code, message, { hint });
}

/** The same without the commands that are refused: what they were about has changed meanwhile. Returns the others. */
export async function executeAccepted<C extends Command>(store: Store, commands: readonly C[]): Promise<C[]> {
  const left = [...commands];
  for (;;) {
    const reply = await store.executeAll(left);
    if (reply.ok) return left;
    left.splice(reply.index, 1);
  }
}
