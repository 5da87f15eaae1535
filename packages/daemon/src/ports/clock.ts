/** Time. All waiting uses this, so that the simulator can replace it. */
export interface Clock {
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Ids {
  /** Unique and ascending in time: `task_…`. */
  next(prefix: string): string;
}
