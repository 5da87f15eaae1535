import type { ProjectStatus } from '@tidemill/contract';

/** A page in the frame: a tab, and a key that opens it after `g`. */
export interface PageTab {
  path: string;
  name: string;
  key: string;
  /** Other addresses that belong to it. */
  beside?: readonly string[];
  /** The number of items that wait there. */
  count?(status: ProjectStatus): number;
}
