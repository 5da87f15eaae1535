export type Lock = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs work one at a time, in order. A failure does not affect the next one. */
export function makeLock(): Lock {
  let tail: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = tail.then(work);
    tail = result.catch(() => undefined);
    return result;
  };
}

/** One lock per key, removed when it is unused. */
export function keyedLocks(): (key: string) => Lock {
  const leased = new Map<string, { lock: Lock; users: number }>();
  return (key) => async (work) => {
    const entry = leased.get(key) ?? { lock: makeLock(), users: 0 };
    leased.set(key, entry);
    entry.users++;
    try {
      return await entry.lock(work);
    } finally {
      if (--entry.users === 0) leased.delete(key);
    }
  };
}
