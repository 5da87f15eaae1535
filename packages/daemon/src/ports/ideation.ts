import type { Idea, IdeaPhase } from '@tidemill/contract';

/** A file of an idea, by its name in the idea's folder. */
export interface IdeaFileText {
  name: string;
  text: string;
}

/** Whether the files are kept now; `left`: not now, and why. */
export type KeptFiles = { kind: 'kept' | 'unchanged' } | { kind: 'left'; why: string };

/** What conversations about ideas need from outside. */
export interface Ideation {
  /** The instructions of a phase: the project's own, or the built-in ones. */
  phasePrompt(phase: IdeaPhase): Promise<string>;
  /** What the project knows about a person, as lines. */
  profileOf(person: string): Promise<string[]>;
  /** Writes exactly these files into the idea's folder. Safe to repeat. */
  keep(idea: Pick<Idea, 'slug' | 'number' | 'title'>, files: readonly IdeaFileText[]): Promise<KeptFiles>;
  /** Searches for one area. Absent while no search provider is configured. */
  search?(area: string): Promise<string>;
}
