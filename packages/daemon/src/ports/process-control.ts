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

/** Reports the project's own commands (gates, prepare steps) to the supervisor: their output is a sign of life. */
export interface CommandWatch {
  /** A command starts. It may be silent until its own time limit. */
  begin(limitMs: number): RunningCommand;
}

export interface RunningCommand {
  output(): void;
  end(): void;
}
