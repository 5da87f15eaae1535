import type { Gotcha, SpecAction } from '@tidemill/contract';

/** What is known about the work in a repository. */
export interface Knowledge {
  /** What went wrong before with such files or such an action: at most 5, the most certain first. */
  gotchas(about: { files: string[]; action: SpecAction }): Promise<Gotcha[]>;
  /** All that is certain enough, for an agent that does not know its files yet. */
  all(): Promise<Gotcha[]>;
  /** The texts of the files that agents read at their start, in the order of INSTRUCTION_FILES. Empty where there is none. */
  instructions(): Promise<string[]>;
}
