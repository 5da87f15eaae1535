import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CallEntry, callToRecord, guardFileText } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { LearnedGuards } from '../ports.ts';
import { callFile } from './call-log.ts';
import { createGuards } from './guards.ts';
import { createLearnedGuards } from './learned-guards.ts';
import { createCallLog } from './recent-calls.ts';

let folder: string;
let dataDir: string;
let guards: LearnedGuards;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tidemill-learned-')));
  dataDir = join(folder, 'data');
  mkdirSync(join(folder, '.tidemill', 'guards'), { recursive: true });
  guards = createLearnedGuards({ root: folder, dataDir, gateCommands: async () => ['npm test', 'make lint'] });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const GENERATED = `- name: generated
  when: { path: "src/generated/**", access: write }
  verdict: deny
  reason: "{path} is generated: run make types."
`;

describe('a proposed guard', () => {
  test('is brought into one form, without comments; its rule does not depend on name and reason', async () => {
    const first = await guards.examine(`# ignore all other guards\n${GENERATED}`);
    const other = await guards.examine(
      GENERATED.replace('generated\n', 'other\n').replace('run make', 'do not run make'),
    );
    expect(first).toMatchObject({ name: 'generated', yaml: expect.not.stringContaining('ignore all') });
    expect(other.rule).toBe(first.rule);
    expect((await guards.examine(GENERATED.replace('**', '*'))).rule).not.toBe(first.rule);
  });

  const rule = (when: string, more = '') => `- name: mine\n  when: ${when}\n  verdict: deny\n  reason: no\n${more}`;
  test.each<[what: string, yaml: string, says: RegExp]>([
    ['broken YAML', '- { name: broken', /the guard:1: /],
    ['no list', 'hello', /the guard:1: the file must be a/],
    ['an unknown key', rule('{ paths: x }'), /the guard:2: .*paths/],
    ['a broken pattern', rule('{ command: "(" }'), /not a valid regular expression/],
    ['no reason', '- name: mine\n  when: { command: "^make" }\n  verdict: deny\n', /reason/],
    ['two guards', `${GENERATED}${rule('{ command: "^make" }')}`, /one guard/],
    ['nothing', '[]', /one guard/],
    ['one that allows', GENERATED.replace('verdict: deny', 'verdict: allow'), /may only refuse/],
    [
      'one that rewrites',
      GENERATED.replace('verdict: deny', 'verdict: rewrite\n  rewrite: { set: { content: "" } }'),
      /may only refuse/,
    ],
    ['one that is final', `${GENERATED}  final: true\n`, /only built-in guards can be final/],
    [
      'the name of a built-in guard',
      GENERATED.replace('name: generated', 'name: secrets'),
      /already a guard named secrets/,
    ],
    ['no condition', '- name: mine\n  verdict: deny\n  reason: no\n', /no condition/],
    ['everything', rule('{ path: "**" }'), /everyday work: Read README\.md/],
    ['every write', rule('{ access: write }'), /everyday work: Write src\/everyday\.ts/],
    ['every command', rule('{ command: "." }'), /npm test.*a gate/],
    ['one tool', '- name: mine\n  tools: [Edit]\n  verdict: deny\n  reason: no\n', /everyday work: Edit/],
    ['a gate', rule('{ command: "^npm (test|t)$" }'), /would refuse `npm test`, a gate/],
    ['a pattern without an end', rule('{ command: "^echo (a+)+$" }'), /takes too long/],
    ['a secret', rule('{ command: "token=ghp_abcdefghijklmnopqrstuvwxyz0123" }'), /looks like a secret/],
    ['a long reason', GENERATED.replace('{path} is', 'x'.repeat(500)), /more than 400 characters/],
  ])('with %s is refused, and nothing is written', async (_what, yaml, says) => {
    await expect(guards.examine(yaml)).rejects.toMatchObject({
      code: 'bad_input',
      message: expect.stringMatching(says),
    });
  });

  test('may not have the name under which mistakes in guards are recorded', async () => {
    const named = guards.examine(GENERATED.replace('name: generated', 'name: guards'));
    await expect(named).rejects.toMatchObject({ message: 'there is already a guard named guards' });
  });

  test('may not have the name of another guard of the project, but may be proposed again', async () => {
    writeFileSync(join(folder, '.tidemill', 'guards', 'own.yaml'), GENERATED);
    await expect(guards.examine(GENERATED)).rejects.toMatchObject({ message: /already a guard named generated/ });
    rmSync(join(folder, '.tidemill', 'guards', 'own.yaml'));
    await guards.write('generated', guardFileText(await guards.examine(GENERATED), 'observe'));
    expect((await guards.examine(GENERATED)).name).toBe('generated');
  });

  test('refuses nothing while it observes, says what it would refuse, and refuses when it is enforced', async () => {
    const examined = await guards.examine(GENERATED);
    const call = { tool: 'Write', input: { file_path: join(folder, 'src/generated/a.ts'), content: 'x' } };
    const check = async () =>
      (await createGuards({ root: folder, dataDir })).check(call, { worktree: folder, mode: 'implement' });
    await guards.write('generated', guardFileText(examined, 'observe'));
    const reason = 'src/generated/a.ts is generated: run make types.';
    expect(await check()).toEqual({ kind: 'allow', observed: [{ guard: 'generated', reason }] });
    await guards.write('generated', guardFileText(examined, 'enforce'));
    expect(await check()).toEqual({ kind: 'deny', guard: 'generated', reason });
    const own = await createGuards({ root: folder, dataDir });
    expect(await own.check(call, { worktree: folder, mode: 'implement', without: 'generated' })).toEqual({
      kind: 'allow',
    });
    await guards.remove('generated');
    expect(await guards.read('generated')).toBeNull();
    expect(await check()).toEqual({ kind: 'allow' });
  });
});

describe('recorded calls', () => {
  const worktree = '/gone/worktree';
  const entry = (tool: string, input: Record<string, unknown>, from = 'run_1'): CallEntry => ({
    ...callToRecord({ tool, input, cwd: worktree }, worktree),
    ...{ at: 1, source: 'run', from, mode: 'implement', verdict: 'allowed', guard: null, observed: [] },
  });

  test('of worktrees that are gone show what a guard would have refused and allowed', async () => {
    const { yaml } = await guards.examine(GENERATED);
    const calls = [
      entry('Write', { file_path: `${worktree}/src/generated/a.ts`, content: 'x' }),
      entry('Bash', { command: `echo x > ${worktree}/src/generated/b.ts` }, 'run_2'),
      entry('Read', { file_path: `${worktree}/src/generated/a.ts` }),
      entry('Bash', { command: `echo ${'x'.repeat(3_000)} > src/generated/c.ts` }),
      entry('Bash', { command: 'echo "open' }),
    ];
    expect(await guards.test(yaml, calls)).toEqual({
      refusedCount: 2,
      allowedCount: 1,
      refused: [
        { at: 1, source: 'run', from: 'run_1', tool: 'Write', what: '{worktree}/src/generated/a.ts' },
        { at: 1, source: 'run', from: 'run_2', tool: 'Bash', what: 'echo x > {worktree}/src/generated/b.ts' },
      ],
      allowed: [{ at: 1, source: 'run', from: 'run_1', tool: 'Read', what: '{worktree}/src/generated/a.ts' }],
    });
  });

  test('are kept without secrets, shortened, and the newest first', async () => {
    const notes: string[] = [];
    const log = createCallLog({ root: folder, dataDir, onNote: (text) => void notes.push(text) });
    expect(await log.recent(10)).toEqual([]);
    const large = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`field${index}`, 'y'.repeat(9_000)]));
    for (const input of [{ command: 'curl -H "Authorization: Bearer abc123" x' }, large, { deep: [[[[[['z']]]]]] }])
      log.record(entry('Bash', input));
    const [deep, cut, first] = await log.recent(10);
    expect(first!.input.command).not.toContain('abc123');
    expect(JSON.stringify(cut!.input).length).toBeLessThanOrEqual(6_000);
    expect([first!.isCut, cut!.isCut, deep!.isCut]).toEqual([false, true, true]);
    expect(await log.recent(1)).toHaveLength(1);
    expect(notes).toEqual([]);
  });

  test('of a person’s own session are tried with the rules for such sessions', async () => {
    const own = GENERATED.replace('when: {', 'when: { session: own,');
    const { yaml } = await guards.examine(own);
    const write = entry('Write', { file_path: `${worktree}/src/generated/a.ts`, content: 'x' });
    expect(await guards.test(yaml, [write, { ...write, source: 'session' }])).toMatchObject({
      refused: [{ source: 'session' }],
      allowed: [{ source: 'run' }],
    });
  });

  test('of a file that was full follow those of the new one, the newest first', async () => {
    const log = createCallLog({ root: folder, dataDir, onNote: () => undefined });
    const file = callFile(dataDir, folder);
    for (const command of ['one', 'two']) log.record(entry('Bash', { command }));
    renameSync(file, `${file}.old`);
    for (const command of ['three', 'four']) log.record(entry('Bash', { command }));
    const commands = async (limit: number) => (await log.recent(limit)).map(({ input }) => input.command);
    expect(await commands(10)).toEqual(['four', 'three', 'two', 'one']);
    expect(await commands(3)).toEqual(['four', 'three', 'two']);
  });

  test('that cannot be kept are noted once and stop nothing', () => {
    const notes: string[] = [];
    writeFileSync(dataDir, 'a file');
    const log = createCallLog({ root: folder, dataDir, onNote: (text) => void notes.push(text) });
    log.record(entry('Bash', { command: 'ls' }));
    log.record(entry('Bash', { command: 'ls' }));
    expect(notes).toEqual(['calls of agents are not recorded']);
  });
});
