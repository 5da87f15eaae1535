export type Lock = <T>(work: () => Promise<T>) => Promise<T>;

/** One at a time, in the order of asking; a failure of one is no concern of the next. */
export function makeLock(): Lock {
  let tail: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = tail.then(work);
    tail = result.catch(() => undefined);
    return result;
  };
}

/** A lock for each key, forgotten when nobody holds or awaits it. */
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
