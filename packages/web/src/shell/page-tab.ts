import type { ProjectStatus } from '@tidemill/contract';

/** A page as the frame shows it: a tab, and a key that leads to it after `g`. */
export interface PageTab {
  path: string;
  name: string;
  key: string;
  /** Further addresses that belong to it. */
  beside?: readonly string[];
  /** What waits there. */
  count?(status: ProjectStatus): number;
}
