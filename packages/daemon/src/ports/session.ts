import type { SessionFile } from '@tidemill/contract';

/** The files that tell other programs of the workers. Writing them may fail without hurting anybody. */
export interface SessionFiles {
  put(file: SessionFile): void;
  drop(agentId: string): void;
  /** Removes what workers that are gone left behind. */
  keepOnly(agentIds: string[]): Promise<void>;
  /** Settles when all that was asked for is on the disk, or given up. */
  settled(): Promise<void>;
}
