import { AppError, type Refusal } from '@tidemill/contract';
import type { Command, ReplyToAll } from '@tidemill/core';
import type { Store } from '../../ports.ts';

type Done = Extract<ReplyToAll, { ok: true }>;

/** All commands in one transaction. A refusal throws, and no command takes effect. */
export async function executeTogether(store: Store, commands: readonly Command[]): Promise<Done['replies']> {
  const reply = await store.executeAll(commands);
  if (reply.ok) return reply.replies;
  throw refused(reply.refusal);
}

const refused = ({ code, message, hint }: Refusal) => new AppError(code, message, { hint });

/**
 * The same, but skips refused commands: their subjects have changed meanwhile. Returns the accepted commands. What
 * `record` makes of those belongs to the same transaction; its refusal throws.
 */
export async function executeAccepted<C extends Command>(
  store: Store,
  commands: readonly C[],
  record: (accepted: readonly C[]) => readonly Command[] = () => [],
): Promise<C[]> {
  const left = [...commands];
  for (;;) {
    const all = [...left, ...record(left)];
    const reply = await store.executeAll(all);
    if (reply.ok) return left;
    if (reply.index >= left.length) throw refused(reply.refusal);
    left.splice(reply.index, 1);
  }
}
