import { describe, expect, test } from 'vitest';
import { type FileVersion, type MergedFile, mergeLosses } from './file-loss.ts';

const file = (path: string, text: string, more: Partial<FileVersion> = {}): FileVersion => ({
  ...{ path, id: text, mode: '100644', text },
  ...more,
});
const binary = (path: string, id: string) => file(path, id, { text: null });
function kinds(merged: Partial<MergedFile>, others: FileVersion[] = []): string[] {
  const versions = { base: null, ours: null, target: null, result: null, ...merged };
  const found = mergeLosses({
    files: [versions],
    others: others.map((result) => ({ before: null, result })),
    ofTask: [],
  });
  return found.map(({ path, kind, lines }) => `${path} ${kind} ${lines.length}`);
}

describe('a file of the target', () => {
  const [old, now, mine] = [file('a', 'one();\n'), file('a', 'one();\ntwo();\n'), file('a', 'one();\nmine();\n')];

  test('that is missing is lost, unless its content is in another file', () => {
    expect(kinds({ target: now })).toEqual(['a file 2']);
    expect(kinds({ target: now }, [file('b', now.text!)])).toEqual([]);
    expect(kinds({ target: now }, [file('b', 'x();\n  two();\n  one();\n')])).toEqual([]);
    expect(kinds({ target: now }, [file('b', 'one();\n')])).toEqual(['a file 1']);
    expect(kinds({ target: file('a', '') })).toEqual(['a file 0']);
  });

  test('that the task deleted is lost only where the target changed it since', () => {
    expect(kinds({ base: old, target: now })).toEqual(['a file 1']);
    expect(kinds({ base: old, target: { ...old, path: 'b' } })).toEqual([]);
  });

  test('that the target deleted is lost when it is there again, also as the task changed it', () => {
    expect(kinds({ base: old, ours: old, result: old })).toEqual(['a deleted_file 1']);
    expect(kinds({ base: old, ours: mine, result: mine })).toEqual(['a deleted_file 1']);
    expect(kinds({ base: old, ours: mine })).toEqual([]);
    expect(kinds({ base: old, ours: mine, result: file('a', 'another();\n') })).toEqual([]);
  });

  test('that is not text must be the target’s, or a person decides', () => {
    const [a, b, c] = ['1', '2', '3'].map((id) => binary('p', id)) as [FileVersion, FileVersion, FileVersion];
    expect(kinds({ base: a, ours: a, target: b, result: b })).toEqual([]);
    expect(kinds({ base: a, ours: a, target: b, result: a })).toEqual(['p content 0']);
    expect(kinds({ base: a, ours: c, target: b, result: c })).toEqual(['p content 0']);
  });

  test('keeps its mode and its name', () => {
    const run = { ...old, mode: '100755' };
    expect(kinds({ base: old, ours: old, target: run, result: old })).toEqual(['a mode 0']);
    expect(kinds({ base: old, ours: mine, target: run, result: { ...mine, mode: '100755' } })).toEqual([]);
    const moved = { ...old, path: 'b' };
    expect(kinds({ base: old, ours: mine, target: moved, result: mine })).toEqual(['b renamed 0']);
    expect(kinds({ base: old, ours: mine, target: moved, result: { ...mine, path: 'b' } })).toEqual([]);
  });

  test('that a package manager writes may look like neither side, but not like the old one', () => {
    const lock = (text: string) => file('web/package-lock.json', text);
    const sides = { base: lock('a 1\n'), ours: lock('a 1\nb 1\n'), target: lock('a 2\n') };
    expect(kinds({ ...sides, result: lock('a 3\nb 1\n') })).toEqual([]);
    expect(kinds({ ...sides, result: sides.ours })).toEqual([
      'web/package-lock.json lines 1',
      'web/package-lock.json deleted_lines 1',
    ]);
  });
});

test('a rewritten file of 20,000 lines is compared within seconds', { timeout: 60_000 }, () => {
  const text = (word: string, step: number) =>
    Array.from({ length: 20_000 }, (_, i) => (i % step === 0 ? `${word}(${i});` : `same(${i % 97});`)).join('\n');
  const [base, ours, target] = ['old', 'mine', 'theirs'].map((word, i) => file('a', text(word, 2 + i)));
  expect(kinds({ base, ours, target, result: ours })[0]).toMatch(/^a lines/);
});
