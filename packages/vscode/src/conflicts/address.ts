import type { AddressParts } from '../changes/address.ts';

export const CONFLICT_SCHEME = 'tidemill-conflict';

/** Only the result can be written. */
export type MergePart = 'base' | 'target' | 'task' | 'result';

export interface MergeAddress {
  project: string;
  task: number;
  part: MergePart;
  path: string;
}

interface MergeParts extends Omit<AddressParts, 'query'> {
  authority: string;
}

const PARTS: readonly string[] = ['base', 'target', 'task', 'result'] satisfies MergePart[];

/** In folders, because the editor keeps no query of files that it saves. The file's own path comes last. */
export const mergeParts = ({ project, task, part, path }: MergeAddress): MergeParts => ({
  authority: project,
  path: `/${task}/${part}/${path}`,
});

/** Null when somebody else made the address up. */
export function mergeAddress({ authority, path }: MergeParts): MergeAddress | null {
  const [, number = '', part = '', ...names] = path.split('/');
  const task = Number(number);
  if (authority === '' || !(task > 0) || !PARTS.includes(part) || names.length === 0) return null;
  return { project: authority, task, part: part as MergePart, path: names.join('/') };
}
