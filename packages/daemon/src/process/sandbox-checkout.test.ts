import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ChildHost, type ChildSpec, startChild } from './child.ts';
import { sandboxStatus } from './sandbox.ts';

const status = await sandboxStatus();
const MARK = 'PERSON-ONLY';
/** Names that a list of secrets would have to know, in folders that a search would have to reach. */
const SECRETS = [
  ...['.env', '.env.production.local', '.envrc', 'config/master.key', 'config/credentials.json', 'prod.tfvars'],
  ...['terraform.tfstate', 'service-account.json', '.npmrc', '.pypirc', 'secrets.yaml', 'kubeconfig', 'id_ed25519'],
  ...['dump.sql', 'notes.txt', 'node_modules/.cache/token', 'target/token', 'dist/.env', 'vendor/key', '.venv/x'],
  ...['.idea/dataSources.local.xml', '.aws/credentials', 'a/b/c/d/e/f/g/h/i/j/.env', 'cert.p12', 'local.properties'],
];
/** Reads everything below a folder, without naming it in the command. */
const READER = `
  const { readdirSync, readFileSync } = require('node:fs');
  const { execFileSync } = require('node:child_process');
  const common = execFileSync('git', ['rev-parse', '--git-common-dir'], { encoding: 'utf8' }).trim();
  const root = require('node:path').dirname(common);
  for (const name of readdirSync(root, { recursive: true })) {
    try { if (readFileSync(root + '/' + name, 'utf8').includes('${MARK}')) console.log(name); } catch {}
  }
  console.log('read', root);
`;

let base: string;
let host: ChildHost;
let worktree: string;
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
    cwd: host.root,
    env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' },
    encoding: 'utf8',
  });

async function put(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(host.root, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

beforeAll(async () => {
  base = await mkdtemp('/var/tmp/tidemill checkout ');
  const dataDir = path.join(base, 'data');
  host = { root: path.join(base, 'mine'), dataDir, homeId: dataDir, sandbox: 'auto' };
  worktree = path.join(dataDir, 'worktrees', '1');
  await put({
    '.gitignore': `${SECRETS.filter((name) => name !== 'notes.txt').join('\n')}\nmany/\n`,
    'tracked.txt': 'tracked\n',
    'tools/agent.sh': '. "$(dirname "$0")/words.sh"; echo "$WORDS"\n',
    'tools/words.sh': 'WORDS=committed\n',
  });
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-qm', 'first');
  git('tag', '-am', 'one', 'v1');
  git('worktree', 'add', '-q', '-b', 'task/1', worktree);
  await put(Object.fromEntries(SECRETS.map((name) => [name, MARK])));
  await put({ 'tracked.txt': MARK, 'cache/data': 'data\n', 'node_modules/pack/index.js': 'pack\n' });
  await symlink('cache', path.join(host.root, 'also'));
});
afterAll(() => rm(base, { recursive: true, force: true }));

async function run(command: string[], more: Partial<ChildSpec> = {}): Promise<string> {
  let text = '';
  const child = startChild({
    host,
    runId: 'run_checkout',
    command,
    cwd: worktree,
    network: false,
    timeoutMs: 60_000,
    onOutput: (chunk) => {
      text += chunk.toString();
    },
    ...more,
  });
  expect(await child.end, text).toMatchObject({ kind: 'exited' });
  return text;
}
const sh = (script: string, more?: Partial<ChildSpec>) => run(['sh', '-c', script], more);

describe("a person's checkout in a sandbox", () => {
  beforeEach(({ skip }) => skip(!status.available, status.why));

  it('shows no file that git does not track, whatever its name, and no uncommitted change', async () => {
    expect(await run(['node', '-e', READER])).toBe(`read ${host.root}\n`);
    expect(await run(['node', '-e', `${READER}// ${host.root}`])).toBe(`read ${host.root}\n`);
    expect(await sh(`cat '${host.root}/tracked.txt'; ls -A '${host.root}'`)).toBe(
      'tracked\n.git\n.gitignore\ntools\ntracked.txt\n',
    );
  });

  it('hides a key behind hundreds of others, and one that is written while the command runs', async () => {
    await put(Object.fromEntries(Array.from({ length: 210 }, (_, index) => [`many/a${index}.key`, MARK])));
    const ready = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    let text = '';
    const script = `console.log('ready'); process.stdin.once('data', () => { ${READER} process.exit(); })`;
    const running = run(['node', '-e', script], {
      stdin: (input) => {
        input.on('error', () => undefined);
        void written.promise.then(() => input.write('go\n'));
      },
      onOutput: (chunk) => {
        text += chunk.toString();
        ready.resolve();
      },
    });
    await ready.promise;
    await put({ 'later/.env': MARK });
    written.resolve();
    await running;
    expect(text).toBe(`ready\nread ${host.root}\n`);
    expect(await sh(`grep -rl ${MARK} '${host.root}'; true`)).toBe('');
  });

  it('can be used by git as before', async () => {
    expect(await sh('git log --format=%s && git status --short && git describe && git diff HEAD --stat')).toBe(
      'first\nv1\n',
    );
  });

  it('cannot be written', async () => {
    const own = `cd "$(git rev-parse --git-common-dir)/.." && echo x > written`;
    expect(await sh(own)).toContain('Read-only file system');
    expect(await sh(`echo x > '${host.root}/written'`)).toContain('Read-only file system');
  });

  it('shows the paths that a person declared, and the packages without what is kept beside them', async () => {
    const at = (name: string) => path.join(host.root, name);
    const declared = { readable: [at('cache'), at('node_modules'), at('also')], writable: [at('out')] };
    await mkdir(at('out'));
    const unnamed = `cd "$(git rev-parse --git-common-dir)/.." && cat cache/data also/data node_modules/pack/index.js && ls -A node_modules/.cache && echo x > out/made`;
    expect(await sh(unnamed, declared)).toBe('data\ndata\npack\n');
    expect(await sh(`cat '${at('cache/data')}' '${at('tracked.txt')}'`, declared)).toBe('data\ntracked\n');
  });

  it("shows an agent's program of the checkout as it is, beside the committed files", async () => {
    const script = path.join(host.root, 'tools', 'agent.sh');
    expect(await run(['sh', script])).toBe('committed\n');
    await put({
      'tools/agent.sh': '. "$(dirname "$0")/words.sh"; echo "my $WORDS"\n',
      'tools/words.sh': 'WORDS=changed\n',
    });
    expect(await run(['sh', script])).toBe('my committed\n');
    git('commit', '-qm', 'second', 'tools/words.sh');
    expect(await run(['sh', script])).toBe('my changed\n');
  });

  it('is hidden also where a folder around it is readable', async () => {
    expect(await run(['node', '-e', READER], { readable: [base] })).toBe(`read ${host.root}\n`);
  });
});
