import { plainName } from '@tidemill/contract';

const MOST_LINES = 300;

/** The files of a repository as lines. Where there are too many, folders stand for their files. */
export function layoutLines(files: readonly string[]): string[] {
  const deepest = files.reduce((most, file) => Math.max(most, file.split('/').length), 0);
  for (let depth = deepest; depth > 0; depth -= 1) {
    const lines = upTo(files, depth);
    if (lines.length <= MOST_LINES) return lines;
  }
  const lines = upTo(files, 1);
  return [...lines.slice(0, MOST_LINES), `- and ${lines.length - MOST_LINES} more`];
}

function upTo(files: readonly string[], depth: number): string[] {
  const counts = new Map<string, number>();
  for (const file of files) {
    const parts = file.split('/');
    const name = parts.length <= depth ? file : `${parts.slice(0, depth).join('/')}/`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) =>
    name.endsWith('/') ? `- ${plainName(name)} (${count} files)` : `- ${plainName(name)}`,
  );
}
