import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { hostname } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ChildHost, type ChildSpec, startChild } from '../../../packages/daemon/src/process/child.ts';
import { leakedProcesses } from '../../../packages/daemon/src/process/leaks.ts';
import { sandboxStatus } from '../../../packages/daemon/src/process/sandbox.ts';
import { escapes, MARK, OPENER, type Surroundings, TRIER } from '../../support/hostile/escapes.ts';

const status = await sandboxStatus();

let base: string;
let around: Surroundings;
let host: ChildHost;
let victim: ReturnType<typeof spawn>;
const servers: ReturnType<typeof createServer>[] = [];
const KERNEL = ['/proc/sys/kernel/core_pattern', '/proc/sys/kernel/hostname'];
const kernelState = () => KERNEL.map((file) => readFileSync(file, 'utf8'));

async function put(folder: string, files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), text);
  }
}

async function listen(where: string | { port: number; host: string }): Promise<number> {
  const server = createServer((caller) => void caller.on('error', () => undefined).end(`${MARK}\n`));
  servers.push(server.listen(where));
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** All files outside by size and time of the last change, except the command's own worktree and our copies for it. */
function everything(folder = base, found: Record<string, string> = {}): Record<string, string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (file === around.worktree || file === path.join(around.dataDir, 'sandbox')) continue;
    if (entry.isDirectory()) everything(file, found);
    else found[file] = `${lstatSync(file).size} ${lstatSync(file).mtimeMs}`;
  }
  return found;
}

beforeAll(async () => {
  // Not in /tmp, because a sandbox has its own.
  base = await mkdtemp('/var/tmp/tidemill-escapes-');
  const at = (name: string) => path.join(base, name);
  const dataDir = at('data');
  host = { root: at('mine'), dataDir, homeId: dataDir, sandbox: 'auto' };
  const secret = `${MARK}\n`;
  await put(at('home'), {
    '.ssh/id_ed25519': secret,
    '.aws/credentials': secret,
    '.config/gcloud/credentials.db': secret,
    '.config/gh/hosts.yml': secret,
    '.docker/config.json': secret,
    '.bash_history': secret,
    '.netrc': secret,
    '.gitconfig': `[user]\n\tname = Mine\n[url "https://me:${MARK}@example.invalid/"]\n\tinsteadOf = gh:\n`,
  });
  await put(dataDir, {
    'store.db': secret,
    'daemon.json': secret,
    'tokens.json': secret,
    'gates/a.log': secret,
    'projects/p/worktrees/2/draft.txt': secret,
  });
  await put(at('other'), { 'secret.txt': secret });
  await put(at('disk'), { 'letter.txt': secret });
  await put(at('mine'), { 'file.txt': 'text\n' });
  const worktree = path.join(dataDir, 'projects', 'p', 'worktrees', '1');
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args], {
      cwd: host.root,
      env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' },
      stdio: 'pipe',
    });
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-qm', 'first');
  git('worktree', 'add', '-q', '-b', 'task/1', worktree);
  git('remote', 'add', 'origin', `https://person:${MARK}@example.invalid/mine.git`);
  git('config', 'remote.mirror.pushurl', `https://${MARK}@example.invalid/mine.git?private_token=${MARK}`);
  git('config', 'http.https://example.invalid/.extraheader', `Authorization: Basic ${MARK}`);
  git('config', 'credential.helper', `!echo password=${MARK}`);
  // One is recognized only by its key, and one only by its section.
  git('config', 'remote.mirror.token', MARK);
  git('config', 'vendor.login', MARK);
  git('config', 'extensions.worktreeConfig', 'true');
  await put(host.root, { '.env': secret, '.git/credentials': secret });
  await writeFile(path.join(host.root, '.git', 'worktrees', '1', 'config.worktree'), `[github]\n\ttoken = ${MARK}\n`);
  victim = spawn('sleep', ['1000'], { env: { ...process.env, SECRET: MARK }, stdio: 'ignore' });
  await once(victim, 'spawn');
  const abstract = path.basename(base);
  await listen(at('keys.sock'));
  await listen(`\0${abstract}`);
  const port = await listen({ port: 0, host: '127.0.0.1' });
  around = {
    home: at('home'),
    root: host.root,
    dataDir,
    worktree,
    other: at('other'),
    disk: at('disk'),
    neighbour: path.join(dataDir, 'projects', 'p', 'worktrees', '2'),
    socket: at('keys.sock'),
    port,
    abstract,
    victim: victim.pid ?? 0,
  };
  await put(at('tools'), { 'trier.mjs': TRIER, 'opener.mjs': OPENER });
});
afterAll(async () => {
  victim?.kill('SIGKILL');
  for (const server of servers) server.close();
  await rm(base, { recursive: true, force: true });
});

async function play(script: string, more: Partial<ChildSpec> = {}): Promise<string> {
  let text = '';
  const child = startChild({
    host,
    runId: 'run_escape',
    cwd: around.worktree,
    network: false,
    timeoutMs: 100_000,
    command: ['node', path.join(base, 'tools', script)],
    readable: [path.join(base, 'tools')],
    env: { HOME: around.home, SSH_AUTH_SOCK: around.socket, ...more.env },
    onOutput: (chunk) => {
      text += chunk.toString();
    },
    ...more,
  });
  expect(await child.end, text).toMatchObject({ kind: 'exited', exitCode: 0 });
  return text;
}

describe('a sandboxed command', { timeout: 120_000 }, () => {
  beforeEach(({ skip }) => skip(!status.available, status.why));

  it('cannot escape by any of the known ways', async () => {
    process.env.TIDEMILL_TEST_SECRET = MARK;
    const [before, kernel, name] = [everything(), kernelState(), hostname()];
    const list = escapes(around);
    const text = await play('trier.mjs', { stdin: JSON.stringify(list) });
    delete process.env.TIDEMILL_TEST_SECRET;
    const came = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { name: string; status: number | null; said: string });
    expect(came.length).toBe(list.length);
    expect(list.length).toBeGreaterThanOrEqual(60);
    const out = came.filter(
      ({ status, said }, index) => said.includes(MARK) || (status === 0 && !list[index]?.maySucceed),
    );
    expect(out).toEqual([]);
    expect(everything()).toEqual(before);
    expect(kernelState()).toEqual(kernel);
    expect(hostname()).toBe(name);
    expect(victim.exitCode === null && victim.signalCode === null).toBe(true);
    expect(readFileSync(`/proc/${victim.pid}/stat`, 'utf8')).toMatch(/\) S/);
  });

  it('can open no file of the kernel for writing', async () => {
    // Users other than root may write some files of their own processes.
    const isRoot = process.getuid?.() === 0;
    expect(await play('opener.mjs', { env: { OWN: isRoot ? 'too' : '' } })).toBe('looked\n');
    expect(await play('opener.mjs', { network: true, env: { OWN: isRoot ? 'too' : '' } })).toBe('looked\n');
  });

  it('can still use git', async () => {
    const does = [
      'git status --short; git log --format=%s; git diff HEAD --stat; git branch --show-current',
      'git remote get-url origin; git config user.name; git rev-parse task/1 main',
    ].join(';');
    const [came] = (await play('trier.mjs', { stdin: JSON.stringify([{ name: 'git', does }]) })).split('\n');
    const { said } = JSON.parse(came ?? '') as { said: string };
    expect(said).toContain('first\n');
    expect(said).toContain('task/1\n');
    expect(said).toContain('https://example.invalid/mine.git\nMine\n');
    expect(said).toMatch(/[0-9a-f]{40}\n[0-9a-f]{40}\n$/);
  });

  it('sees no password even while git rewrites its settings', async () => {
    const ready = Promise.withResolvers<void>();
    const done = Promise.withResolvers<void>();
    let text = '';
    const child = startChild({
      host,
      runId: 'run_rewrite',
      cwd: around.worktree,
      network: false,
      timeoutMs: 20_000,
      command: ['sh', '-c', `echo ready; read go; cat '${host.root}/.git/config'; git config --list`],
      env: { HOME: around.home },
      stdin: (input) => {
        input.on('error', () => undefined);
        void done.promise.then(() => input.end('go\n'));
      },
      onOutput: (chunk) => {
        text += chunk.toString();
        if (text.includes('ready')) ready.resolve();
      },
    });
    await ready.promise;
    execFileSync('git', ['config', 'branch.main.remote', 'origin'], { cwd: host.root });
    done.resolve();
    expect(await child.end).toMatchObject({ exitCode: 0 });
    expect(text).toContain('example.invalid');
    expect(text).not.toContain(MARK);
  });

  it('sees what is declared readable, read-only', async () => {
    const declared = { host: { ...host, readable: [around.disk] } };
    const does = [`cat '${around.disk}/letter.txt'`, `echo evil > '${around.disk}/letter.txt'`];
    const list = does.map((each) => ({ name: each, does: each }));
    const lines = (await play('trier.mjs', { ...declared, stdin: JSON.stringify(list) })).trim().split('\n');
    const [read, write] = lines.map((line) => JSON.parse(line) as { status: number; said: string });
    expect(read).toMatchObject({ status: 0, said: `${MARK}\n` });
    expect(write?.said).toContain('Read-only file system');
  });

  it('leaves no process behind, even if it tries to hide', async () => {
    const file = path.join(around.worktree, 'grown');
    const loop = `while :; do date >> '${file}'; sleep 0.02; done`;
    const ways = [
      `setsid env -i sh -c "${loop}" >/dev/null 2>&1 &`,
      `(trap '' TERM HUP INT; setsid nohup sh -c "${loop}" >/dev/null 2>&1 &) &`,
    ];
    const list = ways.map((does) => ({ name: does, does: `${does} sleep 0.2` }));
    await play('trier.mjs', { stdin: JSON.stringify(list) });
    const grown = statSync(file).size;
    expect(grown).toBeGreaterThan(0);
    expect(await leakedProcesses(host.homeId)).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 150)); // several times the pause of a process that would still write
    expect(statSync(file).size).toBe(grown);
  });
});
