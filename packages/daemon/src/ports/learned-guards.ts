import type { CallEntry, GuardTest } from '@tidemill/contract';
import type { Deeds } from '@tidemill/core';

/** A proposed guard that may be used. */
export interface ExaminedGuard {
  name: string;
  /** In one form, without comments: a list with this guard. */
  yaml: string;
  /** What it matches, as a hash. */
  rule: string;
}

/** Guards that were proposed, and their files in the repository. */
export interface LearnedGuards {
  /** Throws an error that says what is wrong: invalid, not only stricter, or in the way of everyday work. */
  examine(yaml: string): Promise<ExaminedGuard>;
  /** What the guard would have done with these calls. */
  test(yaml: string, calls: readonly CallEntry[]): Promise<GuardTest>;
  /** What the runs and sessions of these calls did, by their ids. */
  deeds(calls: readonly CallEntry[]): Promise<Map<string, Deeds>>;
  /** The file of a guard; null when there is none. */
  read(name: string): Promise<string | null>;
  write(name: string, text: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** What there is of that name, built-in or the project's own; null when there is nothing. */
  find(name: string): Promise<{ isFinal: boolean } | null>;
}
