/** Child processes of a worker, or something that keeps their time. */
export interface ControlledProcess {
  /** They stand still until thawed, and no limit of time runs on meanwhile. */
  freeze(): void;
  thaw(): void;
  /** All of them, at once, without a word. */
  kill(): void;
  /** Zero where it cannot be found out. `cpuMs` only grows. */
  usage(): Promise<{ memoryMb: number; cpuMs: number }>;
}

/** What holds a worker's children. Whoever starts one hands it over, and lets go when it has ended. */
export interface ProcessControl {
  take(part: ControlledProcess): () => void;
}
