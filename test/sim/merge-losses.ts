import type { MergeLoss } from '@tidemill/contract';
import { type FileVersion, mergeLosses } from '@tidemill/core';
import type { Files } from './files.ts';

/** A merge of the target into a branch. */
export interface SimMerge {
  base: Files;
  ours: Files;
  theirs: Files;
}

/** The program's own detector over the simulator's files: what the branch lacks and the target still has. */
export function lossesOfMerge({ base, ours, theirs }: SimMerge, tip: Files, target: Files): MergeLoss[] {
  const version = (files: Files, path: string): FileVersion | null => {
    const text = files.get(path);
    return text === undefined ? null : { path, id: text, mode: '100644', text };
  };
  const paths = [...theirs.keys()].filter((path) => theirs.get(path) !== base.get(path));
  const files = paths.map((path) => ({
    base: version(base, path),
    ours: version(ours, path),
    target: version(theirs, path),
    result: version(tip, path),
  }));
  return mergeLosses({ files, others: [], ofTask: [] }).flatMap(({ path, kind, detail, lines }) => {
    const now = linesOf(target, path);
    const left = lines.filter(({ text }) => now.includes(text) !== (kind === 'deleted_lines'));
    const content = `${path} ${kind} ${left.map(({ text }) => text).join(' ')}`;
    return left.length > 0 ? [{ path, kind, detail, lines: left, lineCount: left.length, content }] : [];
  });
}

export const linesOf = (files: Files, path: string): string[] =>
  (files.get(path) ?? '').split('\n').filter((line) => line !== '');

/** Lines of one tree that another does not have: what landing it would remove. */
export function droppedLines(before: Files, after: Files): string[] {
  return [...before.keys()].flatMap((path) => {
    const left = new Set(linesOf(after, path));
    return linesOf(before, path).filter((line) => !left.has(line));
  });
}

/**
 * What an agent makes of a file in conflict: all sides, or only its own, which is the last. There are more than two when
 * the target was merged again before the first conflict was resolved.
 */
export function resolve(marked: string, keepsAll: boolean): string {
  const sides = marked.split(/<<<|===|>>>/).filter((side) => side !== '');
  const kept = keepsAll ? sides : sides.slice(-1);
  return [...new Set(kept.flatMap((side) => side.split('\n')))].join('\n');
}

/** The lines that a report about losses names. */
export const reportedLines = (text: string): string[] =>
  [...text.matchAll(/^ *\d+ \| (.+)$/gm)].map(([, line]) => line!);
