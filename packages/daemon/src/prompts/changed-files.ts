import type { FileChange } from '../ports.ts';
import { section } from './text.ts';

/** With more lines than this, the folders with the most files are summarized. */
const MOST_LINES = 500;

/** Every changed file with its size, so that none is hidden by the length of another. */
export function changedFilesSection(files: FileChange[]): string {
  const count = files.length === 1 ? 'One file is changed' : `${files.length} files are changed`;
  return section(
    'Changed files',
    linesOf(files),
    `${count}; lines added and removed. Long files are cut where the change is shown: they are whole in your folder.`,
  );
}

function linesOf(files: FileChange[]): string[] {
  const groups = new Map<string, FileChange[]>();
  for (const file of files) {
    const folder = file.path.slice(0, file.path.lastIndexOf('/') + 1);
    groups.set(folder, [...(groups.get(folder) ?? []), file]);
  }
  // The folder with the most files first, so that as few folders as possible are summarized.
  const bySize = [...groups].sort(([, a], [, b]) => b.length - a.length);
  const folded = new Set<string>();
  let lines = files.length;
  for (const [folder, inside] of bySize) {
    if (lines <= MOST_LINES || inside.length === 1) break;
    folded.add(folder);
    lines -= inside.length - 1;
  }
  return [...groups].flatMap(([folder, inside]) =>
    folded.has(folder)
      ? [`- ${inside.length} files in ${quoted(folder || './')}: ${sumOf(inside)}`]
      : inside.map(lineOf),
  );
}

const lineOf = (file: FileChange) =>
  `- ${quoted(file.path)}${file.from === null ? '' : ` (was ${quoted(file.from)})`}: ${sizeOf(file)}`;

function sizeOf({ added, removed, bytes, isBinary }: FileChange): string {
  if (isBinary) return `binary, ${bytes.toLocaleString('en-US')} bytes`;
  if (added === null || removed === null) return `${bytes.toLocaleString('en-US')} bytes`;
  return `+${added} -${removed}`;
}

const sumOf = (files: FileChange[]) =>
  `+${files.reduce((sum, { added }) => sum + (added ?? 0), 0)} -${files.reduce((sum, { removed }) => sum + (removed ?? 0), 0)}`;

/** An agent chooses file names: a name with a line break must not look like a line of the prompt. */
export const quoted = (name: string) => (/^[\p{L}\p{N}_./@+-]+$/u.test(name) ? `\`${name}\`` : JSON.stringify(name));
