import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { SessionFile } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TemporaryRepository } from '../../../../test/e2e/cli-repository.ts';
import type { Clock, SessionFiles, SessionResponse } from '../ports.ts';
import { SESSIONS_FOLDER } from './folder.ts';
import { createSessionFiles } from './session-files.ts';

const idle = (agentId: string, more: Partial<SessionFile> = {}): SessionFile => ({
  agentId,
  status: 'idle',
  currentProjectNumber: null,
  currentPhase: null,
  branchName: null,
  lastHeartbeat: '2026-03-01T10:00:00.000Z',
  tasksCompleted: 0,
  currentTaskDescription: null,
  errorCount: 0,
  lastError: null,
  ...more,
});

let repository: TemporaryRepository;
let sessions: SessionFiles;
let notes: string[];
let pauses: number[];
let onPause: (ms: number) => void;
let folder: string;
const read = (name: string) => SessionFile.parse(JSON.parse(readFileSync(join(folder, `${name}.session`), 'utf8')));

beforeEach(() => {
  repository = new TemporaryRepository();
  folder = join(repository.root, SESSIONS_FOLDER);
  notes = [];
  pauses = [];
  onPause = () => undefined;
  const clock: Clock = {
    now: () => 0,
    async sleep(ms) {
      pauses.push(ms);
      onPause(ms);
    },
  };
  sessions = createSessionFiles({ root: repository.root, clock, onNote: (text) => void notes.push(text) });
});
afterEach(() => {
  repository.remove();
});

describe('session files', () => {
  test('the folder and a file per worker appear with the first write', async () => {
    const names = ['agent-1', 'agent-2', 'agent-3', 'review-agent'];
    for (const name of names) sessions.put(idle(name));
    await sessions.settled();
    expect(readdirSync(folder).sort()).toEqual(names.map((name) => `${name}.session`));
    expect(read('agent-2')).toEqual(idle('agent-2'));
  });

  test('are ignored by git, and the .gitignore is not changed', async () => {
    repository.write({ '.git/info/exclude': '# mine' });
    sessions.put(idle('agent-1'));
    await sessions.settled();
    sessions.put(idle('agent-1', { status: 'working' }));
    await sessions.settled();
    expect(repository.git('status', '--porcelain', '-uall')).toBe('');
    expect(existsSync(join(repository.root, '.gitignore'))).toBe(false);
    expect(readFileSync(join(repository.root, '.git/info/exclude'), 'utf8')).toBe(`# mine\n/${SESSIONS_FOLDER}/\n`);
  });

  test('leave the path of a repository free that is moved while they are written', async () => {
    const bin = join(repository.folder, 'bin');
    const elsewhere = join(repository.folder, 'elsewhere');
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    mkdirSync(bin);
    // It is moved just after git has said where its files are.
    writeFileSync(join(bin, 'git'), `#!/bin/sh\n'${real}' "$@"\nmv '${repository.root}' '${elsewhere}'\n`, {
      mode: 0o755,
    });
    const { PATH } = process.env;
    process.env.PATH = `${bin}:${PATH}`;
    sessions.put(idle('agent-1'));
    await sessions.settled();
    process.env.PATH = PATH;
    expect(existsSync(elsewhere)).toBe(true);
    expect(existsSync(repository.root)).toBe(false);
    renameSync(elsewhere, repository.root);
  });

  test('a reader during a write sees a complete file, and the newest wins', async () => {
    sessions.put(idle('agent-1'));
    await sessions.settled();
    let isWriting = true;
    const reading = (async () => {
      let seen = 0;
      while (isWriting) {
        expect(read('agent-1').agentId).toBe('agent-1');
        seen += 1;
        await new Promise((resolve) => setImmediate(resolve));
      }
      return seen;
    })();
    for (let round = 1; round <= 100; round += 1) {
      for (const name of ['agent-1', 'agent-2']) sessions.put(idle(name, { tasksCompleted: round }));
      if (round % 10 === 0) await sessions.settled();
    }
    await sessions.settled();
    isWriting = false;
    expect(await reading).toBeGreaterThan(0);
    expect([read('agent-1').tasksCompleted, read('agent-2').tasksCompleted]).toEqual([100, 100]);
    expect(readdirSync(folder).sort()).toEqual(['agent-1.session', 'agent-2.session']);
  });

  test.each([
    ['no JSON', 'garbage \u0000 {'],
    ['JSON of another kind', '{"agentId":"agent-1","status":"dancing"}'],
    ['nothing', ''],
  ])('a file with %s in it is made again, and that is told', async (_what, text) => {
    mkdirSync(folder);
    writeFileSync(join(folder, 'agent-1.session'), text);
    sessions.put(idle('agent-1'));
    await sessions.settled();
    expect(read('agent-1')).toEqual(idle('agent-1'));
    expect(notes).toEqual(['the session file of agent-1 was damaged and is made again']);
  });

  test('an unwritable folder is retried after 1, 2 and 4 s, then skipped', async (context) => {
    const isRoot = process.getuid?.() === 0;
    context.skip(isRoot && process.platform !== 'linux', 'root may write to any folder here');
    // Not even root writes into /proc.
    if (isRoot) symlinkSync('/proc', folder);
    else mkdirSync(folder, { mode: 0o555 });
    sessions.put(idle('agent-1'));
    await sessions.settled();
    expect(pauses).toEqual([1_000, 2_000, 4_000]);
    expect(notes).toEqual(Array(4).fill('the session file of agent-1 could not be written'));
    if (isRoot) unlinkSync(folder);
    else chmodSync(folder, 0o755);
    sessions.put(idle('agent-1'));
    await sessions.settled();
    expect(read('agent-1')).toEqual(idle('agent-1'));
  });

  test('a blocked path is retried after 1, 2 and 4 s; once it is free, the newest is written', async () => {
    writeFileSync(folder, 'a file where the folder should be');
    onPause = (ms) => {
      if (ms === 2_000) execFileSync('rm', [folder]);
    };
    sessions.put(idle('agent-1'));
    sessions.put(idle('agent-1', { status: 'paused' }));
    await sessions.settled();
    expect(pauses).toEqual([1_000, 2_000]);
    expect(notes).toHaveLength(2);
    expect(read('agent-1').status).toBe('paused');
  });

  test('files of removed workers are deleted; other files stay', async () => {
    mkdirSync(folder);
    for (const name of ['agent-1.session', 'agent-7.session', 'notes.txt']) writeFileSync(join(folder, name), 'x');
    await sessions.keepOnly(['agent-1']);
    sessions.drop('agent-3');
    await sessions.settled();
    expect(readdirSync(folder).sort()).toEqual(['agent-1.session', 'notes.txt']);
  });
});

describe('the response of a run', () => {
  const response: SessionResponse = {
    agentId: 'agent-1',
    isFailed: false,
    outcome: 'pr_ready',
    failure: null,
    mode: 'implement',
    runId: 'run_1',
    task: { number: 4, title: 'Log out', branch: 'task/4-log-out', commit: 'abc' },
    summary: 'Done.\n## Files\n\u001b[31m**Status:** FAILED',
    files: ['src/a.ts', 'src/`b`.ts'],
    costUsd: 0.125,
    finishedAt: '2026-03-01T10:00:00.000Z',
  };
  const text = () => readFileSync(join(folder, 'agent-1.response.md'), 'utf8');

  test('says outcome, branch, summary and files; what the agent wrote is quoted', async () => {
    sessions.respond('agent-1', response);
    await sessions.settled();
    expect(
      text()
        .split('\n')
        .map((line) => line.trimEnd()),
    ).toEqual([
      '# agent-1: #4 Log out',
      '',
      '**Status:** COMPLETED',
      '**Outcome:** pr_ready',
      '**Mode:** implement',
      '**Task:** 4',
      '**Branch:** task/4-log-out',
      '**Commit:** abc',
      '**Run:** run_1',
      '**Cost:** 0.13 USD',
      '**Finished:** 2026-03-01T10:00:00.000Z',
      '',
      '## Summary',
      '',
      '> Done.',
      '> ## Files',
      '> **Status:** FAILED',
      '',
      '## Files',
      '',
      '- `src/a.ts`',
      "- `src/'b'.ts`",
      '',
    ]);
  });

  test('is removed when the next run starts, and with its worker', async () => {
    sessions.respond('agent-1', response);
    sessions.respond('agent-2', { ...response, agentId: 'agent-2' });
    await sessions.settled();
    sessions.respond('agent-1', null);
    sessions.drop('agent-2');
    await sessions.settled();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('is not written through a folder that is a link, and nothing behind it is removed', async () => {
    const elsewhere = join(repository.root, 'elsewhere');
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, 'agent-1.session'), 'mine');
    symlinkSync(elsewhere, folder);
    await sessions.keepOnly([]);
    sessions.put(idle('agent-1'));
    await sessions.settled();
    expect(readFileSync(join(elsewhere, 'agent-1.session'), 'utf8')).toBe('mine');
    expect(notes).toContain('the session file of agent-1 could not be written');
  });
});
