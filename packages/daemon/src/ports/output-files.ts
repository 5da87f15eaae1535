export type OutputKind = 'runs' | 'gates' | 'deliveries';

export interface OutputFile {
  /** The run, the hash of the gate's output, or the delivery. */
  id: string;
  bytes: number;
  /** When it was last written. */
  at: number;
}

export type RemovalCause = 'age' | 'size';

/** The output of runs, gates and deliveries, as files of the data folder. */
export interface OutputFiles {
  list(kind: OutputKind): Promise<OutputFile[]>;
  /** Removes these files and records when and why. A file that was written lately stays. Returns the removed ones. */
  remove(kind: OutputKind, files: readonly OutputFile[], why: RemovalCause): Promise<OutputFile[]>;
  /** When and why a file was removed. */
  removal(kind: OutputKind, id: string): Promise<{ at: number; why: RemovalCause } | null>;
}
