import type { Store } from '../../packages/daemon/src/ports.ts';

/** The methods of a class instance as plain functions, so that single ones can be replaced. */
export function bound(store: Store): Store {
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(store)).concat(Object.keys(store));
  const entries = names.map((name) => [name, Reflect.get(store, name) as unknown] as const);
  const methods = entries.filter(([name, member]) => name !== 'constructor' && typeof member === 'function');
  return Object.fromEntries(
    methods.map(([name, member]) => [name, (member as () => unknown).bind(store)]),
  ) as unknown as Store;
}

/** A dead daemon gets no wake-ups and no events. */
export function onlyAlive(store: Store, death: AbortSignal): Pick<Store, 'subscribe' | 'onCommit'> {
  return {
    onCommit(listener) {
      const off = store.onCommit(listener);
      death.addEventListener('abort', off, { once: true });
      return off;
    },
    async *subscribe(after, filter, signal) {
      const over = new AbortController();
      for (const end of [signal, death]) end.addEventListener('abort', () => over.abort('over'), { once: true });
      if (signal.aborted || death.aborted) over.abort('over');
      for await (const event of store.subscribe(after, filter, over.signal)) {
        if (death.aborted) return;
        yield event;
      }
    },
  };
}
