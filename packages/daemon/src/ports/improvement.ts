/** The text of a category, from its file. */
export interface CategoryText {
  slug: string;
  name: string;
  /** The project's own file switches it off. */
  isOff: boolean;
  /** Why it cannot be used, with file and line; null when it can. */
  fault: string | null;
  /** The text with these values in it. Empty when it cannot be used. */
  fill(values: CategoryValues): string;
}

/** What the text of a category may mention. */
export const CATEGORY_PLACEHOLDERS = ['repository', 'target', 'recentCommits', 'openTasks', 'stack'] as const;
export type CategoryValues = Record<(typeof CATEGORY_PLACEHOLDERS)[number], string>;

/** What the repository is made of, by its files. */
export interface DetectedStack {
  languages: string[];
  frameworks: string[];
  /** The names of all declared packages, in lower case. */
  dependencies: ReadonlySet<string>;
}

/** What the loop knows about a project besides its tasks. Read again each time. */
export interface Improvements {
  /** The categories in their usual order, and those that the project added. */
  categories(): Promise<CategoryText[]>;
  stack(): Promise<DetectedStack>;
}
