import type { ConflictDetail, ConflictFile } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { mergeAddress, mergeParts } from './address.ts';
import { Drafts, type Memory } from './drafts.ts';
import { fallbackText } from './fallback.ts';

const file: ConflictFile = {
  path: 'wall.txt',
  kind: 'both_changed',
  form: 'text',
  isText: true,
  base: '10\n',
  ours: '12\n',
  theirs: '11\n',
  current: '<<<<<<<',
  isResolved: false,
  hasMarkers: true,
};

test('the address of a file of a merge gives back what it was made of, and nothing else is one', () => {
  for (const part of ['base', 'target', 'task', 'result'] as const) {
    const address = { project: 'project_1', task: 7, part, path: 'a folder/ü "q".txt' };
    expect(mergeAddress(mergeParts(address))).toEqual(address);
  }
  for (const path of ['', '/', '/7', '/7/result', '/0/result/a', '/x/result/a', '/7/other/a'])
    expect(mergeAddress({ authority: 'project_1', path })).toBeNull();
});

describe('a draft of a merge', () => {
  test('is kept for the sides that it merges, and of no use for others', async () => {
    const kept = new Map<string, unknown>();
    const memory: Memory = { get: (key) => kept.get(key), update: async (key, value) => void kept.set(key, value) };
    const drafts = new Drafts(memory);
    await drafts.keep('wall', file, '11 and 12\n');
    expect(drafts.get('wall', file)).toBe('11 and 12\n');
    // A new window has the same memory.
    expect(new Drafts(memory).get('wall', { ...file, current: 'changed in the worktree' })).toBe('11 and 12\n');
    expect(drafts.get('wall', { ...file, theirs: '13\n' })).toBeNull();
    expect(drafts.get('other', file)).toBeNull();
    await drafts.drop('wall');
    expect(drafts.get('wall', file)).toBeNull();
  });
});

test('the fallback of the merge editor says why, what is open, and gives the commands of the daemon', () => {
  const detail = {
    ...{ number: 7, title: 'Raise the wall', target: 'main', worktree: '/work/trees/7' },
    files: [file, { ...file, path: 'seal.png', form: 'binary' }, { ...file, path: 'done.txt', isResolved: true }],
    commands: ["cd '/work/trees/7'", 'git status', 'tidemill conflicts settle 7'],
  } as unknown as ConflictDetail;
  const text = fallbackText(detail, 'The merge editor did not open.');
  expect(text).toContain('The merge editor did not open. These commands do the same in a terminal.');
  expect(text).toContain('- wall.txt (both changed)\n- seal.png (both changed, binary)\n');
  expect(text).not.toContain('done.txt');
  expect(text).toContain("```sh\ncd '/work/trees/7'\ngit status\ntidemill conflicts settle 7\n```");
});
