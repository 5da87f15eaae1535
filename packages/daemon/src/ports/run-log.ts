/** Where a run's output goes: capped, flushed at least every 3 s. */
export interface RunLog {
  write(chunk: string): void;
  close(): Promise<void>;
}

export type OpenRunLog = (runId: string) => RunLog;
