import type { HookRefusal } from '@tidemill/contract';

/** What hooks refused in a person's own sessions. A hook only appends a line to a file: it has no time for more. */
export interface HookRefusals {
  /**
   * Hands over all of them that are new. One may be handed over again when `take` fails, or when a hook wrote at the same
   * time.
   */
  take(keep: (refusals: HookRefusal[]) => Promise<void>): Promise<void>;
}
