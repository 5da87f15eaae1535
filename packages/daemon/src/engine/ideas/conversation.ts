import { type Idea, type IdeaMessage, ideaMessageId } from '@tidemill/contract';
import type { Store } from '../../ports.ts';

/** The messages of an idea with these numbers, the oldest first. */
export async function messagesOf(store: Store, ideaId: string, from: number, to: number): Promise<IdeaMessage[]> {
  const numbers = Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
  const found = await Promise.all(numbers.map((number) => store.record('message', ideaMessageId(ideaId, number))));
  return found.filter((message) => message !== null);
}

/** The last messages up to a number. A fork continues the conversation of its original. */
export async function lastMessages(
  store: Store,
  idea: Pick<Idea, 'id' | 'forkedFrom'>,
  upTo: number,
  limit: number,
): Promise<IdeaMessage[]> {
  const own = await messagesOf(store, idea.id, Math.max(1, upTo - limit + 1), upTo);
  const missing = limit - own.length;
  if (missing <= 0 || !idea.forkedFrom) return own;
  const original = await store.record('idea', idea.forkedFrom.ideaId);
  if (!original) return own;
  return [...(await lastMessages(store, original, idea.forkedFrom.upTo, missing)), ...own];
}
