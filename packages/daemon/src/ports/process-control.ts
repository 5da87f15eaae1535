/** Child processes of a worker, or their time limit. */
export interface ControlledProcess {
  /** Suspends them until thaw. Time limits stop meanwhile. */
  freeze(): void;
  thaw(): void;
  /** Kills all of them at once. */
  kill(): void;
  /** Zero where it is unknown. `cpuMs` only grows. */
  usage(): Promise<{ memoryMb: number; cpuMs: number }>;
}

/** Controls a worker's child processes. The code that starts one registers it here and removes it when it has ended. */
export interface ProcessControl {
  take(part: ControlledProcess): () => void;
}
