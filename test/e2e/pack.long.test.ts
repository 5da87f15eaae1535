import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const DAEMON = join(import.meta.dirname, '..', '..', 'packages', 'daemon');
const MINUTE = 60_000;
/** npm's messages for a registry that cannot be reached: a reason to skip, not an error of the package. */
const OFFLINE = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED)\b/;

let folder: string;
let empty: string;
let env: NodeJS.ProcessEnv;
let offline = '';

function run(program: string, args: string[], cwd: string, timeout = 3 * MINUTE, input = '') {
  const done = spawnSync(program, args, { cwd, env, encoding: 'utf8', timeout, input });
  const output = `${done.stdout}\n${done.stderr}\n${done.error ?? ''}`;
  return { status: done.status, stdout: done.stdout, output };
}

/** The shell of a new user: an empty HOME, the machine's own Node, and nothing of the npm that runs this test. */
function freshEnvironment(home: string): NodeJS.ProcessEnv {
  const registry = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).stdout.trim();
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|INIT_CWD$|NODE_|VITEST|TIDEMILL_)/i.test(name));
  const path = (process.env.PATH ?? '').split(delimiter).filter((part) => !part.includes('node_modules'));
  return {
    ...Object.fromEntries(kept),
    PATH: path.join(delimiter),
    HOME: home,
    TIDEMILL_HOME: join(home, 'tidemill'),
    npm_config_registry: registry,
    npm_config_update_notifier: 'false',
    npm_config_fetch_retries: '1',
    npm_config_fetch_retry_mintimeout: '2000',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
}

describe('the packed tarball, installed into an empty folder', () => {
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tidemill-pack-'));
    empty = join(folder, 'empty');
    const home = join(folder, 'home');
    for (const made of [empty, home]) mkdirSync(made);
    env = freshEnvironment(home);
    // Packing runs the build, which needs the workspace's own Node first on PATH; npm does that.
    const packed = run('npm', ['pack', '--silent', '--pack-destination', folder], DAEMON);
    expect(packed.status, packed.output).toBe(0);
    const tarball = join(folder, packed.stdout.trim().split('\n').at(-1) as string);
    const installed = run('npm', ['install', '--no-audit', '--no-fund', tarball], empty);
    if (installed.status !== 0 && OFFLINE.test(installed.output)) {
      offline = 'the npm registry cannot be reached';
      return;
    }
    expect(installed.status, installed.output).toBe(0);
  }, 5 * MINUTE);

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('holds compiled JavaScript, the prompts, the licence and the README, and no TypeScript', (context) => {
    context.skip(offline !== '', offline);
    const root = join(empty, 'node_modules', 'tidemill');
    const listed = spawnSync('find', ['.', '-type', 'f'], { cwd: root, encoding: 'utf8' }).stdout.split('\n');
    for (const file of [
      'bin/tidemill.mjs',
      'dist/main.js',
      'dist/scripted-player.js',
      'dist/secret-scanner.js',
      'LICENSE',
      'README.md',
      'docs/agents.md',
    ])
      expect(listed).toContain(`./${file}`);
    expect(listed.some((file) => /^\.\/dist\/prompts\/.+\.md$/.test(file))).toBe(true);
    expect(listed).toContain('./dist/prompts/guards/worktree.yaml');
    expect(listed.filter((file) => file.startsWith('./dist/prompts/categories/'))).toHaveLength(21);
    expect(listed).toContain('./dist/web/index.html');
    expect(listed.some((file) => /^\.\/dist\/web\/assets\/.+\.js$/.test(file))).toBe(true);
    expect(listed.filter((file) => file.endsWith('.ts') && !file.startsWith('./dist/demo/'))).toEqual([]);
    expect(readFileSync(join(root, 'dist', 'main.js'), 'utf8')).not.toContain('@tidemill/');
  });

  test('takes at most 120 MB, without a Node of its own and without source maps of ours', (context) => {
    context.skip(offline !== '', offline);
    const size = spawnSync('du', ['-sk', 'node_modules'], { cwd: empty, encoding: 'utf8' }).stdout;
    expect(Number.parseInt(size, 10)).toBeLessThan(120 * 1024);
    const maps = spawnSync('find', ['tidemill', '-name', '*.map'], { cwd: join(empty, 'node_modules') });
    expect(maps.stdout.toString()).toBe('');
  });

  test('runs as tidemill --version', (context) => {
    context.skip(offline !== '', offline);
    const version = run('npx', ['--no', '--', 'tidemill', '--version'], empty);
    expect(version.status, version.output).toBe(0);
    const manifest = JSON.parse(readFileSync(join(DAEMON, 'package.json'), 'utf8')) as { version: string };
    expect(version.stdout).toContain(manifest.version);
  });

  test('checks a call with tidemill guard', (context) => {
    context.skip(offline !== '', offline);
    const ask = (command: string) => {
      const input = JSON.stringify({ tool_name: 'Bash', tool_input: { command }, cwd: empty });
      return run('npx', ['--no', '--', 'tidemill', 'guard'], empty, MINUTE, input);
    };
    expect(ask('ls')).toMatchObject({ status: 0 });
    expect(ask('crontab -r')).toMatchObject({ status: 2, output: expect.stringContaining('(guard: whole-machine)') });
  });

  test('does its main job with tidemill demo --exit', { timeout: 4 * MINUTE }, (context) => {
    context.skip(offline !== '', offline);
    const demo = run('npx', ['--no', '--', 'tidemill', 'demo', '--exit'], empty, 3 * MINUTE);
    expect(demo.status, demo.output).toBe(0);
  });
});
