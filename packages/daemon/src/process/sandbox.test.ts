import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ChildEnd, type ChildHost, type ChildSpec, startChild } from './child.ts';
import { leakedProcesses } from './leaks.ts';
import { sandboxStatus } from './sandbox.ts';

const status = await sandboxStatus();

describe('the sandbox', () => {
  beforeEach(({ skip }) => skip(!status.available, status.why));
  let base: string;
  let host: ChildHost;
  let worktree: string;
  beforeAll(async () => {
    base = await mkdtemp('/tmp/tidemill sandbox ');
    const dataDir = path.join(base, 'data');
    host = { root: path.join(base, 'repository'), dataDir, homeId: dataDir, sandbox: 'auto' };
    worktree = path.join(dataDir, 'worktrees', '1');
    await mkdir(host.root);
    await mkdir(dataDir);
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
        cwd: host.root,
        env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' },
        stdio: 'pipe',
      });
    git('init', '-q', '-b', 'main');
    await writeFile(path.join(host.root, 'file.txt'), 'text\n');
    git('add', '.');
    git('commit', '-qm', 'first');
    git('worktree', 'add', '-q', '-b', 'task/1', worktree);
    await writeFile(path.join(dataDir, 'secret'), 'evidence\n');
  });
  afterAll(() => rm(base, { recursive: true, force: true }));

  type More = Partial<Pick<ChildSpec, 'network' | 'readable' | 'writable' | 'hidden' | 'readOnlyWorktree'>>;
  async function sh(script: string, more: More = {}) {
    let text = '';
    const child = startChild({
      host,
      runId: 'run_sandbox',
      command: ['sh', '-c', script],
      cwd: worktree,
      network: more.network ?? false,
      readable: more.readable,
      writable: more.writable,
      hidden: more.hidden,
      readOnlyWorktree: more.readOnlyWorktree,
      timeoutMs: 20_000,
      onOutput: (chunk) => {
        text += chunk.toString();
      },
    });
    const end: ChildEnd = await child.end;
    return { end, text };
  }

  it('makes the worktree read-only on request', async () => {
    const { end, text } = await sh('cat file.txt; echo x > file.txt', { readOnlyWorktree: true });
    expect(end, text).toMatchObject({ kind: 'exited', exitCode: 2 });
    expect(text).toMatch(/^text\n.*Read-only file system/);
    const ground = `mount -o remount,rw,bind '${worktree}' 2>&1; echo x > written`;
    expect((await sh(ground, { readOnlyWorktree: true })).end).toMatchObject({ kind: 'exited', exitCode: 2 });
  });

  it('that is killed from outside has started, and was killed', async () => {
    const child = startChild({
      host,
      runId: 'run_killed',
      command: ['sh', '-c', 'echo here; sleep 30'],
      cwd: worktree,
      network: false,
      timeoutMs: 20_000,
      onOutput: () => {
        const own = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' });
        const bwrap = own.split('\n').find((line) => line.includes('echo here'));
        process.kill(Number.parseInt(bwrap!, 10), 'SIGKILL');
      },
    });
    expect(await child.end).toMatchObject({ kind: 'exited', exitCode: null, signal: 'SIGKILL' });
  });

  it('makes the worktree writable, and nothing else', async () => {
    const targets = [host.root, path.join(host.root, '.git'), path.dirname(process.execPath), '/etc', '/usr'];
    for (const target of targets) {
      const { end, text } = await sh(`echo x > '${target}/written'`);
      expect(end, text).toMatchObject({ kind: 'exited', exitCode: 2 });
      expect(text).toMatch(/Read-only file system|Directory nonexistent|Permission denied/);
    }
    expect((await sh('echo fine > here.txt && echo fine > "$TMPDIR/there.txt"')).end).toMatchObject({ exitCode: 0 });
    expect(await readFile(path.join(worktree, 'here.txt'), 'utf8')).toBe('fine\n');
    await expect(readFile('/tmp/there.txt')).rejects.toThrow('ENOENT');
  });

  it('hides the data folder except the worktree, and shows the repository', async () => {
    const { text } = await sh(`ls -A '${host.dataDir}' '${host.dataDir}/worktrees'; cat '${host.dataDir}/secret'`);
    expect(text).toMatch(/secret'?: No such file or directory/);
    expect(text.split('\n').filter((line) => /^\w+$/.test(line))).toEqual(['worktrees', '1']);
    expect((await sh(`cat '${host.root}/file.txt'`)).text).toBe('text\n');
  });

  it('allows git to read, but not to commit', async () => {
    expect((await sh('git status --short && git log --format=%s')).text).toContain('first');
    const { end, text } = await sh('git -c user.name=t -c user.email=t@e.x commit --allow-empty -m x');
    expect(end, text).not.toMatchObject({ exitCode: 0 });
    expect(text).toContain('Read-only file system');
  });

  it('cannot be left by remounting', async () => {
    const { end } = await sh(`mount -o remount,rw / && echo x > '${host.root}/escaped'`);
    expect(end).not.toMatchObject({ exitCode: 0 });
    await expect(readFile(path.join(host.root, 'escaped'))).rejects.toThrow('ENOENT');
  });

  it('has loopback, and network only if it is allowed', async () => {
    const interfaces = (text: string) => text.match(/^ *(\w+):/gm)?.map((name) => name.trim()) ?? [];
    expect(interfaces((await sh('cat /proc/net/dev')).text)).toEqual(['lo:']);
    const loopback = `node -e "require('net').createServer((s)=>s.end('hi')).listen(0,'127.0.0.1',function(){require('net').connect(this.address().port,'127.0.0.1').on('data',(d)=>{console.log(''+d);process.exit()})})"`;
    expect((await sh(loopback)).text).toBe('hi\n');
    const outside = await readFile('/proc/net/dev', 'utf8');
    expect(interfaces((await sh('cat /proc/net/dev', { network: true })).text)).toEqual(interfaces(outside));
  });

  it('keeps a command from using a hidden socket, unless it is allowed', async () => {
    const folder = await mkdtemp('/var/tmp/tidemill socket ');
    const socket = path.join(folder, 'machine.sock');
    const server = createServer((caller) => caller.end('yours')).listen(socket);
    try {
      await once(server, 'listening');
      const ask = `node -e "require('net').connect('${socket}').on('data',(d)=>console.log(''+d)).on('error',(e)=>console.log(e.code))"`;
      expect((await sh(ask)).text).toBe('ENOENT\n');
      expect((await sh(ask, { readable: [folder] })).text).toBe('yours\n');
      expect((await sh(ask, { readable: [folder], hidden: [socket] })).text).toMatch(
        /^E(CONNREFUSED|NOTSOCK|ACCES)\n$/,
      );
      expect((await sh(ask, { hidden: [socket], writable: [socket] })).text).toBe('yours\n');
    } finally {
      server.close();
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('opens additional folders on request', async () => {
    const extra = path.join(base, 'cache');
    await mkdir(extra);
    expect((await sh(`echo x > '${extra}/kept'`, { writable: [extra] })).end).toMatchObject({ exitCode: 0 });
    expect(await readFile(path.join(extra, 'kept'), 'utf8')).toBe('x\n');
  });

  it('opens nothing through a link that was committed to the repository', async () => {
    const outside = path.join(base, 'outside');
    await mkdir(outside);
    await writeFile(path.join(outside, 'letter'), 'private\n');
    const place = path.join(host.root, 'cache');
    const bin = path.join(host.root, 'node_modules', '.bin');
    await mkdir(path.dirname(bin));
    for (const link of [place, bin]) await symlink(outside, link);
    const script = `cat '${place}/letter' '${outside}/letter'; echo x > '${place}/letter'`;
    const { text } = await sh(script, { readable: [place], writable: [place] });
    expect(text).not.toContain('private');
    const search = process.env.PATH;
    process.env.PATH = `${bin}:${search}`;
    expect((await sh(script)).text).not.toContain('private');
    process.env.PATH = search;
    expect(await readFile(path.join(outside, 'letter'), 'utf8')).toBe('private\n');
  });

  it('gives a command only its own environment, and shows no value of it in the process list', async () => {
    const secret = `sk-${crypto.randomUUID()}`;
    process.env.TIDEMILL_TEST_SECRET = 'ours';
    const ready = Promise.withResolvers<void>();
    const heard = Promise.withResolvers<void>();
    try {
      let text = '';
      const child = startChild({
        host,
        runId: 'run_env',
        cwd: worktree,
        network: false,
        timeoutMs: 20_000,
        env: { API_KEY: secret },
        command: ['sh', '-c', 'env; echo listed; cat /proc/[0-9]*/cmdline; read end'],
        stdin: (input) => {
          input.on('error', () => undefined);
          void heard.promise.then(() => input.end('\n'));
        },
        onOutput: (chunk) => {
          text += chunk.toString();
          if (text.includes('read end')) ready.resolve();
        },
      });
      await ready.promise;
      const lines = (await leakedProcesses(host.homeId)).map(({ command }) => command);
      heard.resolve();
      await child.end;
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.join('\n')).not.toContain(secret);
      const [environment = '', listed = ''] = text.split('listed\n');
      expect(environment).toContain(`API_KEY=${secret}`);
      expect(listed).not.toContain(secret);
      expect(environment).not.toContain('TIDEMILL_TEST_SECRET');
      const names = environment.match(/^\w+(?==)/gm) ?? [];
      const usual =
        /^(PATH|HOME|LANG|LC_\w+|TERM|TMPDIR|USER|SHELL|PWD|OLDPWD|SHLVL|_|API_KEY|TIDEMILL_(HOME_ID|RUN|WORKTREE|PORT_BASE))$/;
      expect(names.filter((name) => !usual.test(name))).toEqual([]);
    } finally {
      delete process.env.TIDEMILL_TEST_SECRET;
    }
  });

  it('ends with the daemon, even when the daemon is killed', async () => {
    const program = `
      import { startChild } from ${JSON.stringify(new URL('./child.ts', import.meta.url).href)};
      startChild({
        host: ${JSON.stringify(host)}, runId: 'run_killed', cwd: ${JSON.stringify(worktree)}, network: false,
        command: ['sh', '-c', 'setsid sleep 1000 & echo ready; sleep 1000'], timeoutMs: 100000,
        onOutput: (chunk) => void process.stdout.write(chunk),
      });`;
    const daemon = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(daemon.stdout, 'data');
    expect((await leakedProcesses(host.homeId)).length).toBeGreaterThan(2);
    daemon.kill('SIGKILL');
    await expect.poll(() => leakedProcesses(host.homeId)).toEqual([]);
  });

  it('passes exit codes on', async () => {
    expect((await sh('exit 7')).end).toMatchObject({ kind: 'exited', exitCode: 7 });
    expect((await sh('kill -9 $$')).end).toMatchObject({ kind: 'exited', exitCode: 137 });
  });
});

it('the status of the sandbox says why there is one or not', async () => {
  const needs = `bubblewrap needs Linux, and this is ${process.platform}`;
  const missing = 'bwrap is not installed (the package is called bubblewrap)';
  if (status.available) expect(status.why).toBe('bubblewrap works');
  else expect(status.why).toMatch(/^(bubblewrap needs Linux|bwrap ).+: agents and gates run unsandboxed$/);
  // The answer is kept, so another copy of the module is asked.
  vi.resetModules();
  const { PATH } = process.env;
  process.env.PATH = '/nowhere';
  const again = await import('./sandbox.ts')
    .then((fresh) => fresh.sandboxStatus())
    .finally(() => {
      process.env.PATH = PATH;
    });
  expect(again).toMatchObject({
    available: false,
    why: `${process.platform === 'linux' ? missing : needs}: agents and gates run unsandboxed`,
  });
});
