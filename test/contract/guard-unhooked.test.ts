import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ProjectStatus } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sandboxStatus } from '../../packages/daemon/src/process/sandbox.ts';
import { GuardBed, resultOf } from './guard-bed.ts';

// A `command` agent asks nobody before it acts. What holds it is the sandbox around it and the engine behind it, which
// takes only the worktree's files and lets no change of the settings pass. What neither of them holds back, and only a
// guard would: reading what is committed (a tracked .env is in the worktree like any file), showing the environment the
// agent was given itself, long reads, and calls to the network. And without bubblewrap, or with `sandbox: off`, all that
// the person may do.

const status = await sandboxStatus();
const PRIVATE = 'private-7f3a';
const HOME_SECRETS = [
  '.ssh/id_ed25519',
  '.aws/credentials',
  '.config/gh/hosts.yml',
  '.config/gcloud/credentials.db',
  '.netrc',
  '.kube/config',
  '.docker/config.json',
  '.npmrc',
  '.claude/.credentials.json',
  '.codex/auth.json',
  'diary.txt',
];

/** Does what attempts.json says, in the shell, and hands in what came of it. */
const AGENT = `
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
let input = '';
for await (const chunk of process.stdin) input += chunk;
const { mode, feedback } = JSON.parse(input);
const { attempts, results } = JSON.parse(readFileSync(new URL('./attempts.json', import.meta.url), 'utf8'));
const list = feedback.length > 0 ? attempts.repair : (attempts[mode] ?? []);
const came = Object.fromEntries(list.map((shell) => {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', shell], { encoding: 'utf8' });
  return [shell, { status, said: stdout + stderr }];
}));
if (mode === 'implement') writeFileSync('done.txt', JSON.stringify(came, null, 1));
const { review, ...result } = results[mode];
const ids = JSON.parse(input).task.acceptance.map(({ id }) => id);
const criteria = ids.map((id) => ({ id, met: true, evidence: 'done.txt:1 is there' }));
console.log(JSON.stringify({ tidemill: 'result', ...result, ...(review ? { review: { criteria, comments: [] } } : {}) }));
`;

let bed: GuardBed;
beforeEach(() => {
  bed = new GuardBed({ TOP_SECRET: PRIVATE, DATABASE_PASSWORD: PRIVATE });
});
afterEach(() => bed.close());

/** Everything on the machine that is not the agent's, by size and time of the last change. */
function everything(folder: string, skipped: string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const file = join(entry.parentPath, entry.name);
    if (!entry.isFile() || skipped.some((place) => file.startsWith(place))) continue;
    found[file] = `${statSync(file).size} ${statSync(file).mtimeMs}`;
  }
  return found;
}

async function play(sandbox: 'auto' | 'off', attempts: Record<string, string[]>) {
  const results = Object.fromEntries(
    (['plan', 'implement', 'review'] as const).map((mode) => [mode, resultOf(mode, '')]),
  );
  await bed.lay({
    agent: { type: 'command', command: [process.execPath, './agent.mjs'] },
    files: { 'agent.mjs': AGENT, 'attempts.json': JSON.stringify({ attempts, results }) },
    sandbox,
  });
  const { machine, root } = bed;
  for (const name of HOME_SECRETS) {
    mkdirSync(dirname(join(machine.home, name)), { recursive: true });
    writeFileSync(join(machine.home, name), `${PRIVATE}\n`);
  }
  writeFileSync(join(root, '.env.local'), `KEY=${PRIVATE}\n`);
  const before = everything(machine.home, []);
  const ended = await bed.work();
  return {
    ...ended,
    before,
    came: () => JSON.parse(readFileSync(join(root, 'done.txt'), 'utf8')) as Record<string, Came>,
  };
}
type Came = { status: number | null; said: string };

describe('an agent without hooks', { timeout: 120_000 }, () => {
  it('is held by the sandbox as the others are by the guards', async (context) => {
    context.skip(!status.available, status.why);
    const { folder, home, data } = bed.machine;
    const commit = 'git -c user.name=a -c user.email=a@b.invalid commit --allow-empty -m x';
    const refused = [
      `echo x > '${bed.root}/evil.txt'`,
      `echo x > '${bed.root}/.git/evil'`,
      `rm -rf '${bed.root}/.git'`,
      commit,
      'git stash -u',
      'git checkout -b other',
      'git reset --hard HEAD',
      'git config core.hooksPath x',
      'git push origin HEAD:main',
      'git push origin +HEAD:agent',
      'echo x > /etc/evil',
      'echo x > /usr/evil',
    ];
    /** They seem to work, in a place that is removed with the agent. */
    const lost = [
      `echo x > '${folder}/evil.txt'`,
      `echo x > "$HOME/evil.txt"`,
      `rm -rf "$HOME/.ssh"`,
      `echo x >> '${data}/store.db'`,
      `mkdir -p '${data}/gates' && echo ok > '${data}/gates/${'ab'.repeat(32)}.log'`,
    ];
    const reads = [
      ...HOME_SECRETS.map((name) => `cat '${join(home, name)}'`),
      `cat '${bed.root}/.env.local'`,
      `cat '${data}/daemon.json'`,
      `ls -A '${data}'`,
      'env',
      'cat /proc/*/environ',
      `grep -rs ${PRIVATE.slice(0, 7)} '${folder}'; true`,
      'ps -ef',
    ];
    const { task, told, before, came } = await play('auto', {
      implement: [...refused, ...reads, ...lost],
      review: [`echo x > stray.txt`, commit, `echo x > '${bed.root}/evil.txt'`],
    });
    expect(task.stage, told).toBe('done');
    await bed.expectOnlyDone();
    const results = came();
    for (const shell of refused) expect(results[shell]?.status, `${shell}: ${results[shell]?.said}`).not.toBe(0);
    for (const shell of reads) expect(results[shell]?.said, shell).not.toContain(PRIVATE);
    expect(results[`ls -A '${data}'`]?.said).toBe('projects\n');
    expect(everything(bed.machine.home, [])).toEqual(before);
    expect(existsSync(join(bed.root, 'evil.txt'))).toBe(false);
    expect(existsSync(join(data, 'gates', `${'ab'.repeat(32)}.log`))).toBe(false);
    expect(await bed.machine.git(bed.root, 'status', '--porcelain')).toBe('');
    // The store was written by nobody else: the log still gives its rows.
    expect((await bed.machine.run(['doctor'], bed.root)).stdout).toContain('a replay of the log gives the rows');
  });

  it.each(['auto', 'off'] as const)(
    'has its change of the settings refused, and a reviewer changes nothing (sandbox %s)',
    async (sandbox) => {
      const { task, events, told } = await play(sandbox, {
        implement: [
          'mkdir -p .tidemill/guards .claude',
          'echo "[]" > .tidemill/guards/mine.yaml',
          'echo "{}" > .claude/settings.json',
        ],
        repair: ['rm -rf .tidemill/guards .claude'],
        review: ['echo x > stray.txt', 'echo x >> done.txt', 'rm notes.txt'],
      });
      expect(task.stage, told).toBe('done');
      await bed.expectOnlyDone();
      expect(events.filter(({ type }) => type === 'run.sent_back')).toMatchObject([{ gates: ['integrity'], retry: 1 }]);
      expect(events.filter(({ type }) => type === 'snapshot.taken')).toMatchObject([
        { why: 'stray writes of a review run' },
      ]);
    },
  );

  it('stands in a place where nothing holds it, and `status` and `doctor` say so', async () => {
    const { machine, root } = bed;
    const agent = { type: 'command', command: [process.execPath, './agent.mjs'] };
    await bed.lay({ agent, files: { 'agent.mjs': AGENT } });
    // Each in a process of its own, which looks for bubblewrap on its PATH.
    const said = async () => {
      const [asJson, inWords, doctor] = await Promise.all(
        [['status', '--json'], ['status'], ['doctor']].map((args) => machine.start(args, root)),
      );
      const { sandbox } = JSON.parse(asJson!.stdout) as ProjectStatus;
      return { ...sandbox, isTold: inWords!.stdout.includes(sandbox.text), doctor: doctor!.stdout || doctor!.stderr };
    };
    // Only what is needed besides: git, and the Node that runs all this.
    const bin = join(machine.folder, 'bin');
    mkdirSync(bin);
    for (const name of ['git', 'sh'])
      symlinkSync((await machine.program('sh', ['-c', `command -v ${name}`], root)).stdout.trim(), join(bin, name));
    const { PATH } = machine.env;
    machine.env.PATH = bin;
    const without = await said();
    expect(without).toMatchObject({ active: false, isTold: true, text: expect.stringContaining('run unsandboxed') });
    expect(without.doctor).toMatch(/bubblewrap.*run unsandboxed/s);

    machine.env.PATH = PATH;
    const config = join(root, '.tidemill', 'config.yaml');
    writeFileSync(config, readFileSync(config, 'utf8').replace('"sandbox":"auto"', '"sandbox":"off"'));
    const off = await said();
    expect(off).toMatchObject({ active: false, isTold: true, text: expect.stringContaining('sandbox: off') });
    expect(off.doctor).toContain('sandbox: off');
  });
});
