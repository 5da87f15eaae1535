import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { QUIET_CONFIG, type TemporaryRepository } from '../../../../../test/e2e/cli-repository.ts';
import { OfflineBed } from '../../../../../test/support/offline-bed.ts';

let bed: OfflineBed;
let repository: TemporaryRepository;
let api: Api;
let project: string;
let file: string;

beforeEach(async () => {
  bed = await OfflineBed.open();
  ({ repository, api, project } = bed);
  file = join(repository.root, '.tidemill/config.yaml');
});
afterEach(() => bed.close());

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const problemsOf = async (text: string) => (await api.checkConfig({ project, text })).problems;

describe('a config that is checked', () => {
  test('returns every problem with its line, also next to broken parts', async () => {
    repository.write({ '.tidemill/pipelines/own.yaml': 'name: own\nstart: nowhere\nstages: {}\n' });
    const text = [
      'tagret: main',
      'push: three',
      'pipeline: feture',
      'workers: 64',
      'agents:',
      '  default: { type: command, command: [no-such-program] }',
      '  reveiw: { type: command, command: ["true"] }',
      'gates:',
      '  - { name: test, run: "true" }',
      '  - { name: test, run: "true" }',
      'notify: { channels: { critical: [pager] } }',
      '',
    ].join('\n');
    const { problems, warnings } = await api.checkConfig({ project, text });
    const inFile = problems.filter(({ line }) => line !== null);
    expect(inFile).toEqual([
      { line: 1, message: expect.stringContaining('did you mean "target"') },
      { line: 2, message: expect.stringContaining('push: is one of never, target, branch') },
      { line: 6, message: expect.stringContaining('no-such-program') },
      { line: 7, message: expect.stringContaining('did you mean "review"') },
      { line: 10, message: expect.stringContaining('names must be unique') },
      { line: 11, message: expect.stringContaining('unknown channel "pager"') },
    ]);
    expect(
      problems
        .slice(inFile.length)
        .map(({ message }) => message)
        .join('\n'),
    ).toContain('pipelines/own.yaml:');
    expect(warnings).toEqual([expect.stringContaining('config.yaml:4: workers is 64')]);
  });

  test('knows the pipelines of the project, and what a changed list of gates would do to them', async () => {
    expect(await problemsOf(QUIET_CONFIG.replace('quick', 'quik'))).toEqual([
      { line: 2, message: 'unknown pipeline "quik"; did you mean "quick"?' },
    ]);
    const stages = `
  build: { actor: agent, mode: implement, on: { pr_ready: prove, no_changes: blocked } }
  prove: { actor: system, does: verify, gates: [test], on: { approved: land, failed: blocked } }
  land: { actor: system, does: merge, on: { approved: done, failed: blocked, conflicts_detected: blocked } }
`;
    repository.write({ '.tidemill/pipelines/own.yaml': `name: own\nstart: build\nstages:${stages}` });
    expect(await problemsOf(QUIET_CONFIG)).toEqual([]);
    expect(await problemsOf(QUIET_CONFIG.replace('name: test', 'name: tests'))).toEqual([
      { line: null, message: expect.stringMatching(/own\.yaml:5: unknown gate "test"/) },
    ]);
  });

  test.each([
    ['nothing', '', 1],
    ['no mapping', '- a\n- b\n', 1],
    ['broken syntax', 'target: main\nworkers: [\n', 3],
    ['a key that is there twice', 'target: a\npush: true\ntarget: b\n', 3],
    ['an alias that leads nowhere', 'target: *none\n', 1],
    ['binary', 'target: \u0000\u0001\n', 1],
    ['nothing but brackets', '['.repeat(99_000), 1],
    ['lists in lists', '- '.repeat(40_000), 1],
    ['deep nesting', `a: ${'['.repeat(20_000)}${']'.repeat(20_000)}`, 1],
    ['thousands of unknown keys', Array.from({ length: 9_000 }, (_, index) => `k${index}: 1`).join('\n'), 1],
    ['one very long key', `${'k'.repeat(90_000)}: 1\n`, 1],
  ])('%s is no config', async (_, text, line) => {
    const problems = await problemsOf(text);
    expect(problems[0]?.line).toBe(line);
    expect(problems.length).toBeLessThan(300);
    expect(JSON.stringify(problems).length).toBeLessThan(50_000);
  });

  test('is refused when it is too long', async () => {
    await expect(api.checkConfig({ project, text: ' '.repeat(100_001) })).rejects.toMatchObject({ code: 'bad_input' });
    await expect(api.checkConfig({ project: '../x', text: '' })).rejects.toMatchObject({ code: 'no_project' });
  });
});

describe('the config file', () => {
  test('is shown unchanged, even when it is invalid', async () => {
    const shown = await api.config({ project });
    expect(shown).toEqual({
      path: '.tidemill/config.yaml',
      text: QUIET_CONFIG,
      hash: sha256(QUIET_CONFIG),
      warnings: [],
    });
    writeFileSync(file, 'workers: [');
    expect(await api.config({ project })).toMatchObject({
      text: 'workers: [',
      warnings: [expect.stringContaining('not committed')],
    });
    rmSync(file);
    await expect(api.config({ project })).rejects.toMatchObject({
      code: 'bad_config',
      hint: expect.stringContaining('init'),
    });
  });

  test('is saved whole, keeps its mode, and is committed to the target', async () => {
    chmodSync(file, 0o640);
    const text = `${QUIET_CONFIG}# größer 🌊\r\nworkers: 3\n`;
    const { hash } = await api.config({ project });
    const saved = await api.saveConfig({ project, text, hash });
    expect(saved).toMatchObject({ text, hash: sha256(text), warnings: [], outcome: 'Saved and committed to main.' });
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(readdirSync(join(repository.root, '.tidemill'))).toEqual(['config.yaml']);
    expect(await api.config({ project })).toEqual({ path: saved.path, text, hash: saved.hash, warnings: [] });
    expect(repository.git('status', '--porcelain')).toBe('');
    expect(repository.git('log', '-1', '--format=%s%n%n%b')).toBe(
      'Change the settings of Tidemill\n\nSaved by a person.',
    );
    const again = await api.saveConfig({ project, text, hash: saved.hash });
    expect(again).toMatchObject({ isCommitted: true, outcome: 'Saved, as it is on main.' });
  });

  test('is saved on another branch, too, and says why it is not committed', async () => {
    repository.git('checkout', '-q', '-b', 'other');
    const { hash } = await api.config({ project });
    const text = `${QUIET_CONFIG}workers: 3\n`;
    expect(await api.saveConfig({ project, text, hash })).toMatchObject({
      text,
      isCommitted: false,
      outcome: `Saved. Not committed: ${repository.root} is not on main.`,
      warnings: [expect.stringContaining('not committed')],
    });
    expect(readFileSync(file, 'utf8')).toBe(text);
    repository.git('branch', '-D', 'main');
    const gone = await api.saveConfig({ project, text: QUIET_CONFIG, hash: sha256(text) });
    expect(gone.outcome).toMatch(/^Saved\. Not committed: the target branch "main" does not exist/);
    expect(readFileSync(file, 'utf8')).toBe(QUIET_CONFIG);
  });

  test('does not overwrite a change that was made meanwhile', async () => {
    const { hash } = await api.config({ project });
    const texts = ['workers: 2\n', 'workers: 3\n'].map((more) => `${QUIET_CONFIG}${more}`);
    const both = await Promise.allSettled(texts.map((text) => api.saveConfig({ project, text, hash })));
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'conflict' } });
    expect(readFileSync(file, 'utf8')).toBe(texts[both.findIndex(({ status }) => status === 'fulfilled')]);
    await expect(api.saveConfig({ project, text: QUIET_CONFIG, hash: 'x' })).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(readdirSync(join(repository.root, '.tidemill'))).toEqual(['config.yaml']);
  });

  test('is not written when it is invalid', async () => {
    const { hash } = await api.config({ project });
    const save = api.saveConfig({ project, text: 'target: main\npush: 3\n', hash });
    await expect(save).rejects.toMatchObject({
      code: 'bad_config',
      message:
        '.tidemill/config.yaml:1: agents is missing\n.tidemill/config.yaml:2: push: is one of never, target, branch',
    });
    expect(readFileSync(file, 'utf8')).toBe(QUIET_CONFIG);
  });

  test('may be a link within the repository, but not out of it', async () => {
    const { hash } = await api.config({ project });
    repository.write({ 'settings/real.yaml': QUIET_CONFIG });
    rmSync(file);
    symlinkSync('../settings/real.yaml', file);
    const text = `${QUIET_CONFIG}workers: 4\n`;
    await api.saveConfig({ project, text, hash });
    expect(readFileSync(join(repository.root, 'settings/real.yaml'), 'utf8')).toBe(text);

    const outside = join(bed.home, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'config.yaml'), QUIET_CONFIG);
    const places: [string, () => void][] = [
      ['the file', () => symlinkSync(join(outside, 'config.yaml'), file)],
      ['git', () => symlinkSync('../.git/config', file)],
      [
        'the folder',
        () => {
          rmSync(join(repository.root, '.tidemill'), { recursive: true });
          symlinkSync(outside, join(repository.root, '.tidemill'));
        },
      ],
    ];
    for (const [, lead] of places) {
      rmSync(file, { force: true });
      lead();
      await expect(api.config({ project })).rejects.toMatchObject({ code: 'forbidden' });
      await expect(api.saveConfig({ project, text, hash })).rejects.toMatchObject({ code: 'forbidden' });
    }
    expect(readFileSync(join(outside, 'config.yaml'), 'utf8')).toBe(QUIET_CONFIG);
    expect(readdirSync(outside)).toEqual(['config.yaml']);
  });
});
