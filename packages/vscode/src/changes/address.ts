// The addresses of documents that the daemon's answers fill. Without the editor's API, so that they can be tested alone.

export const CHANGE_SCHEME = 'tidemill-change';
export const EVIDENCE_SCHEME = 'tidemill-evidence';
export const OUTPUT_SCHEME = 'tidemill-output';

export type Side = 'before' | 'after';

/** One side of one file of a task's change. */
export interface ChangeAddress {
  project: string;
  task: number;
  side: Side;
  path: string;
}

/** The part of an editor's address that is used here. */
export interface AddressParts {
  path: string;
  query: string;
}

/** The path is the file's own, so that the editor shows its name and knows its language. */
export function changeParts({ project, task, side, path }: ChangeAddress): AddressParts {
  return { path: `/${path}`, query: new URLSearchParams({ project, task: String(task), side }).toString() };
}

/** Null when somebody else made the address up. */
export function changeAddress({ path, query }: AddressParts): ChangeAddress | null {
  const found = new URLSearchParams(query);
  const [project, side, task] = [found.get('project'), found.get('side'), Number(found.get('task'))];
  if (!project || !(task > 0) || (side !== 'before' && side !== 'after')) return null;
  return { project, task, side, path: path.replace(/^\//, '') };
}
