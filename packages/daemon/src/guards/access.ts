/**
 * What happens to a path: it is listed (`ls`), read, written, removed, or becomes the working directory of later commands.
 * A guard with `write` also matches `remove`.
 */
export type AccessKind = 'list' | 'read' | 'write' | 'remove' | 'enter';

export interface Access {
  /** As it was written; relative to `cwd`. */
  path: string;
  cwd: string;
  kind: AccessKind;
  /** The whole file would be read. */
  isWhole?: boolean;
  /** The call does not name it; a search through everything would find it. */
  isSwept?: boolean;
  /** The shell command that does it, in its plain form. */
  command?: string;
}
