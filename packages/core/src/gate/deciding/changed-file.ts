/** A file as a tree has it. */
export interface FileFact {
  oid: string;
  /** As git writes it: `100644`, `100755`, `120000` for a link. */
  mode: string;
  /** Null when it is no text, or too long to be looked at. */
  text: string | null;
}

/** A file that differs between two trees; null where it is not there. */
export interface ChangedFile {
  path: string;
  before: FileFact | null;
  after: FileFact | null;
}

/** A gate, as far as it tells which files decide what it checks. */
export interface CheckCommand {
  name: string;
  run: string;
  /** Further files, as globs. */
  proves: string[];
}

/** A changed file that decides what a gate checks, and why it does, in words for a person. */
export interface Deciding {
  file: string;
  why: string;
  /** The file as git has it: an approval is for this content, and any other is asked about anew. */
  content: string;
}
