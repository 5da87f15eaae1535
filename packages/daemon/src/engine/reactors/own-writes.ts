import type { EventType, LoggedEvent } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import type { OwnWrites, Store } from '../../ports.ts';

/** Limits the memory for events that a stopped reactor will never receive. */
const MOST_KEPT = 10_000;

export function watchWrites(store: Store, on: readonly EventType[]): OwnWrites {
  const wanted = new Set<EventType>(on);
  const own = new Set<number>();
  const remember = (events: readonly LoggedEvent[]) => {
    if (own.size > MOST_KEPT) own.clear();
    for (const { seq, body } of events) if (wanted.has(body.type)) own.add(seq);
  };
  const execute = async (command: Command) => {
    const reply = await store.execute(command);
    if (reply.ok) remember(reply.events);
    return reply;
  };
  const executeAll = async (commands: readonly Command[]) => {
    const reply = await store.executeAll(commands);
    if (reply.ok) for (const { events } of reply.replies) remember(events);
    return reply;
  };
  return {
    store: new Proxy(store, {
      get(target, name) {
        if (name === 'execute') return execute;
        if (name === 'executeAll') return executeAll;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    }),
    isOwn: (seq) => own.delete(seq),
  };
}
