/**
 * What happens to a path: it is looked at (`ls`), read, written, removed, or made the place where later commands run.
 * A guard that asks for `write` means `remove` too.
 */
export type AccessKind = 'list' | 'read' | 'write' | 'remove' | 'enter';

export interface Access {
  /** As it was written; relative to `cwd`. */
  path: string;
  cwd: string;
  kind: AccessKind;
  /** The file would be read from end to end. */
  isWhole?: boolean;
  /** Nobody named it: a search through everything would come across it. */
  isSwept?: boolean;
  /** The shell command that does it, in its plain form. */
  command?: string;
}
