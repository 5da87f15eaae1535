import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const PLATFORM = ['node', 'node-bin']
  .map((prefix) => `${prefix}-${process.platform}-${process.arch}`)
  .find((name) => existsSync(join(ROOT, 'node_modules', name)));

/** A stand-in for the program: prints who runs it, then waits, ends or fails as its arguments say. */
const PROGRAM = `
const [what, code] = process.argv.slice(2);
process.on('SIGTERM', () => process.exit(7));
console.log(process.version.split('.')[0], process.pid, process.argv.slice(2).join(' '));
if (what === 'exit') process.exit(Number(code));
setInterval(() => undefined, 1000);
`;

/** A Node before 24 on this machine: the case that the launcher is for. */
function oldNode(): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'));
  const isOld = (node: string) => {
    const major = /^v(\d+)/.exec(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout)?.[1];
    return major !== undefined && Number(major) >= 20 && Number(major) < 24;
  };
  return folders.map((folder) => join(folder, 'node')).find((node) => existsSync(node) && isOld(node)) ?? null;
}

const OLD = PLATFORM ? oldNode() : null;
const NO_OLD = 'needs a Node between 20 and 23 on PATH, and a Node 24 package for this platform';

let folder: string;
let launcher: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tidemill-launcher-'));
  cpSync(join(ROOT, 'packages', 'daemon', 'bin'), join(folder, 'bin'), { recursive: true });
  mkdirSync(join(folder, 'dist'));
  writeFileSync(join(folder, 'dist', 'main.js'), PROGRAM);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  launcher = join(folder, 'bin', 'tidemill.mjs');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts the launcher and waits for the program's first line. */
async function started(node: string, ...args: string[]): Promise<{ child: ChildProcess; major: string; pid: number }> {
  const child = spawn(node, [launcher, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const [major, pid] = line.toString().split(' ') as [string, string];
  return { child, major, pid: Number(pid) };
}

describe('the launcher on Node 24', () => {
  test('is the program: one process, its arguments, its exit code', () => {
    const done = spawnSync(process.execPath, [launcher, 'exit', '3'], { encoding: 'utf8' });
    expect(done.stdout).toBe(`v${process.versions.node.split('.')[0]} ${done.pid} exit 3\n`);
    expect(done.status).toBe(3);
  });
});

describe('the launcher on an older Node', () => {
  test('gets the versions that a checkout installs', () => {
    const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as Record<string, unknown>;
    expect(read('packages/daemon/package.json').nodePackages).toEqual(read('package.json').optionalDependencies);
  });

  test('says what to do when no Node 24 is installed next to it', (context) => {
    if (!OLD) return context.skip(true, NO_OLD);
    const done = spawnSync(OLD, [launcher, 'exit', '0'], { encoding: 'utf8' });
    expect(done.status).toBe(1);
    expect(done.stderr).toContain('needs Node 24');
    expect(done.stderr).toContain('Run it with a newer Node');
  });

  test('gets Node 24 with npm, once, and runs the program there', (context) => {
    if (!OLD || !PLATFORM) return context.skip(true, NO_OLD);
    const home = join(folder, 'home');
    const bin = join(folder, 'npm-bin');
    for (const made of [home, bin]) mkdirSync(made);
    // Stands in for npm: what it would get from its registry is linked.
    const npm = `#!/bin/sh\necho "$@" >> "$HOME/asked"\nmkdir "$3/node_modules" && ln -s "${join(ROOT, 'node_modules', PLATFORM)}" "$3/node_modules/"\n`;
    writeFileSync(join(bin, 'npm'), npm, { mode: 0o755 });
    const manifest = join(folder, 'package.json');
    writeFileSync(manifest, JSON.stringify({ type: 'module', nodePackages: { [PLATFORM]: '24.0.1' } }));
    const start = () =>
      spawnSync(OLD, [launcher, 'exit', '3'], {
        encoding: 'utf8',
        env: { ...process.env, HOME: home, PATH: `${bin}${delimiter}${process.env.PATH}` },
      });
    const [first, second] = [start(), start()];
    writeFileSync(manifest, '{"type":"module"}');
    expect(first.stderr).toMatch(/needs Node 24.*getting Node 24\.0\.1 with npm, once/);
    expect(second.stderr).toBe('');
    for (const { stdout, status } of [first, second])
      expect([stdout, status]).toEqual([expect.stringMatching(/^v2[4-9] \d+ exit 3\n$/), 3]);
    expect(readFileSync(join(home, 'asked'), 'utf8').match(new RegExp(`${PLATFORM}@24.0.1$`, 'gm'))).toHaveLength(1);
  });

  describe('with Node 24 next to it', () => {
    beforeAll(() => {
      mkdirSync(join(folder, 'node_modules'), { recursive: true });
      if (PLATFORM) symlinkSync(join(ROOT, 'node_modules', PLATFORM), join(folder, 'node_modules', PLATFORM));
    });

    test('runs the program there and passes on its exit code', (context) => {
      if (!OLD) return context.skip(true, NO_OLD);
      const done = spawnSync(OLD, [launcher, 'exit', '3'], { encoding: 'utf8' });
      expect(done.stdout).toMatch(/^v2[4-9] \d+ exit 3\n$/);
      expect(done.status).toBe(3);
    });

    test('passes on signals', async (context) => {
      if (!OLD) return context.skip(true, NO_OLD);
      const { child } = await started(OLD, 'wait');
      child.kill('SIGTERM');
      expect(await once(child, 'exit')).toEqual([7, null]);
    });

    test('ends by the signal that ended the program', async (context) => {
      if (!OLD) return context.skip(true, NO_OLD);
      const { child, pid } = await started(OLD, 'wait');
      process.kill(pid, 'SIGKILL');
      expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
    });

    test('ends the program when it is killed', async (context) => {
      if (!OLD) return context.skip(true, NO_OLD);
      const { child, pid } = await started(OLD, 'wait');
      expect(pid).not.toBe(child.pid);
      child.kill('SIGKILL');
      // The program holds the other end of the pipe: the stream closes when the last of the two is gone.
      expect(await once(child, 'close')).toEqual([null, 'SIGKILL']);
      expect(child.stdout).toMatchObject({ readableEnded: true });
    });
  });
});
