import type { SessionFile } from '@tidemill/contract';

/** Files about the workers for other programs. A failed write has no other effect. */
export interface SessionFiles {
  put(file: SessionFile): void;
  drop(agentId: string): void;
  /** Removes the files of workers that no longer exist. */
  keepOnly(agentIds: string[]): Promise<void>;
  /** Settles when all writes have finished or failed. */
  settled(): Promise<void>;
}
