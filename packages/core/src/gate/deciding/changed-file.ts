/** A file as a tree has it. */
export interface FileFact {
  oid: string;
  /** As git writes it: `100644`, `100755`, `120000` for a link. */
  mode: string;
  /** Null when it is not text, or too long to examine. */
  text: string | null;
}

/** A file that differs between two trees; null where it does not exist. */
export interface ChangedFile {
  path: string;
  before: FileFact | null;
  after: FileFact | null;
}

/** The parts of a gate, or of a step of `prepare`, that say which files decide what is checked. */
export interface CheckCommand {
  name: string;
  /** A step of `prepare`: it makes the files that gates use. Its name is its command. */
  of?: 'prepare';
  run: string;
  /** Further files, as globs. */
  proves: string[];
}

/** A changed file that decides what a gate checks, with the reason in words. */
export interface Deciding {
  file: string;
  why: string;
  /** Identifies the file's content: an approval is for this content only. */
  content: string;
}

/** The path itself: `file` is only for people. */
export const pathOf = ({ content }: Deciding): string => content.split(' ').slice(2).join(' ');
