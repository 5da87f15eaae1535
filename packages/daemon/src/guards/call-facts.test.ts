import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Mode } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Guards } from '../ports.ts';
import { createGuards } from './guards.ts';

// Tools that Tidemill does not know: what counts as a path in their input.

let folder: string;
let worktree: string;
let guards: Guards;
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tidemill-calls-')));
  worktree = join(folder, 'worktree');
  mkdirSync(worktree);
  guards = await createGuards({ root: join(folder, 'no-project'), dataDir: join(folder, 'data') });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function verdict(tool: string, input: Record<string, unknown>, mode: Mode = 'implement'): Promise<string> {
  const found = await guards.check({ tool, input }, { worktree, mode });
  return found.kind === 'deny' ? found.guard : found.kind;
}

describe('an unknown tool', () => {
  test.each('path paths file files filename filepath dir directory folder uri'.split(' '))(
    'may write what its %s names, and so does one with more words',
    async (key) => {
      for (const name of [key, `target_${key}`, `target${key[0]!.toUpperCase()}${key.slice(1)}`])
        expect(await verdict('mcp__x__do', { [name]: '/etc/hosts' })).toBe('worktree');
      expect(await verdict('mcp__x__do', { [key]: ['src/a.ts', '/etc/hosts'] })).toBe('worktree');
    },
  );

  test.each<[string, Record<string, unknown>]>([
    ['text', { text: '/etc/hosts' }],
    ['a word that ends like one', { profile: '/etc/hosts' }],
    ['a number', { path: 7 }],
    ['a path inside', { path: 'src/a.ts' }],
  ])('is let through with %s', async (_what, input) => {
    expect(await verdict('mcp__x__do', input)).toBe('allow');
  });

  test('of a reviewer may name an address, but no file, also not as an address', async () => {
    expect(await verdict('mcp__web__get', { uri: 'https://example.org/a' }, 'review')).toBe('allow');
    expect(await verdict('mcp__web__get', { uri: 'vscode-remote://x/a' }, 'review')).toBe('allow');
    expect(await verdict('mcp__web__get', { uri: `file://${worktree}/a.ts` }, 'review')).toBe('reviewer-files');
    expect(await verdict('mcp__web__get', { uri: 'a.ts' }, 'review')).toBe('reviewer-files');
  });
});
