import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir, userInfo } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ChildHost, type ChildSpec, startChild } from './child.ts';
import { homesOf } from './home.ts';
import { sandboxStatus } from './sandbox.ts';
import { programTree } from './tools.ts';

const status = await sandboxStatus();

let base: string;
let home: string;
let host: ChildHost;
let worktree: string;

/** What tools keep in their own folders, beside programs and downloads. */
const BESIDE_TOOLS = [
  ...[
    '.cargo/config.toml',
    '.cargo/config',
    '.cargo/credentials',
    '.gradle/gradle.properties',
    '.gradle/init.d/a.gradle',
  ],
  ...[
    '.m2/settings.xml',
    '.m2/settings-security.xml',
    '.npm/_logs/x.log',
    '.gem/credentials',
    '.local/share/gem/credentials',
  ],
  ...['.composer/auth.json', '.bundle/config', '.nuget/NuGet/NuGet.Config', '.julia/servers/x/auth.toml', '.pypirc'],
  ...['.dotnet/corefx/cryptography/x509stores/my/a.pfx', '.docker/config.json', '.kube/config', '.condarc'],
  ...[
    'miniconda3/.condarc',
    '.local/share/uv/credentials/credentials.toml',
    '.pub-cache/credentials.json',
    '.stack/config.yaml',
  ],
  ...[
    '.stack/upload/credentials.json',
    '.volta/hooks.json',
    '.bunfig.toml',
    '.config/pypoetry/auth.toml',
    '.sbt/credentials',
  ],
  ...[
    '.ivy2/.credentials',
    '.cabal/config',
    '.opam/config',
    '.swiftly/config.json',
    '.deno/auth',
    '.yarn/rc',
    '.rvm/user/db',
  ],
  ...['.tool/config.toml', '.tool/credentials', '.tool/init.d/x', '.pyenv/secrets'],
];
/** The same inside an installation, among programs that are shown. */
const INSIDE_TOOLS = [
  ...[
    '.pyenv/versions/3/pip.conf',
    '.pyenv/plugins/a/.git/config',
    '.local/share/uv/tools/a/.env',
    'node-v24/etc/npmrc',
  ],
  ...['node/20/etc/npmrc', 'maven/3/conf/settings.xml', 'gradle/8/init.d/a.gradle'].map(
    (name) => `.local/share/mise/installs/${name}`,
  ),
];

async function put(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(home, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
    if (text.startsWith('#!')) await chmod(file, 0o755);
  }
}

beforeAll(async () => {
  // Not in the temporary folder, which is always hidden.
  base = await mkdtemp('/var/tmp/tidemill home ');
  home = path.join(base, 'person');
  const dataDir = path.join(home, '.tidemill');
  host = { root: path.join(home, 'projects', 'mine'), dataDir, homeId: dataDir, sandbox: 'auto' };
  worktree = path.join(dataDir, 'projects', 'p', 'worktrees', '1');
  await put({
    '.ssh/id_ed25519': 'KEY',
    '.aws/credentials': 'KEY',
    '.config/gh/hosts.yml': 'KEY',
    '.config/git/credentials': 'KEY',
    '.config/git/ignore': '*.swp\n',
    '.netrc': 'KEY',
    '.npmrc': 'KEY',
    '.cargo/credentials.toml': 'KEY',
    '.cargo/registry/crate.txt': 'source\n',
    '.cargo/bin/crafty': '#!/bin/sh\necho crafty\n',
    ...Object.fromEntries([...BESIDE_TOOLS, ...INSIDE_TOOLS].map((name) => [name, 'KEY'])),
    '.tool/bin/tooled': '#!/bin/sh\ncat "$(dirname "$0")/../lib/data"\n',
    '.tool/lib/data': 'tooled\n',
    '.pyenv/bin/pyenv': '#!/bin/sh\ncat "$(dirname "$0")/../versions/3/x"\n',
    '.pyenv/versions/3/x': 'python\n',
    'dotfiles/gitconfig': '[user]\n\tname = Mine\n',
    'dotfiles/secret': 'KEY',
    'node-v24/bin/linked': '#!/bin/sh\ncat "$(dirname "$(readlink -f "$0")")/../lib/data"\n',
    'node-v24/lib/data': 'data\n',
    '.local/bin/alone': '#!/bin/sh\necho alone\n',
    '.local/share/keyrings/login': 'KEY',
    'scripts/run': '#!/bin/sh\necho run\n',
    'projects/other/.env': 'KEY',
    'projects/mine/tracked.txt': 'tracked\n',
    'projects/mine/.env': 'KEY',
    'projects/mine/apps/web/.env.local': 'KEY',
    'projects/mine/apps/web/server.key': 'KEY',
    'projects/mine/a/b/c/d/e/f/.env': 'KEY',
    'projects/mine/.env.example': 'NAME=\n',
    '.tidemill/store.db': 'KEY',
    'letter.txt': 'KEY',
  });
  await symlink('dotfiles/gitconfig', path.join(home, '.gitconfig'));
  await symlink('../../node-v24/bin/linked', path.join(home, '.local/bin/linked'));
  await symlink('scripts', path.join(home, 'bin'));
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
      cwd: host.root,
      env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' },
      stdio: 'pipe',
    });
  git('init', '-q', '-b', 'main');
  git('add', 'tracked.txt');
  git('commit', '-qm', 'first');
  git('worktree', 'add', '-q', '-b', 'task/1', worktree);
});
afterAll(() => rm(base, { recursive: true, force: true }));

async function sh(script: string, more: Partial<ChildSpec> = {}): Promise<string> {
  const places = ['.cargo/bin', '.local/bin', 'bin', '.tool/bin', '.pyenv/bin', 'node-v24/bin'].map((name) =>
    path.join(home, name),
  );
  let text = '';
  const child = startChild({
    host,
    runId: 'run_home',
    command: ['sh', '-c', script],
    cwd: worktree,
    network: false,
    timeoutMs: 20_000,
    env: { HOME: home, PATH: [...places, process.env.PATH].join(path.delimiter) },
    onOutput: (chunk) => {
      text += chunk.toString();
    },
    ...more,
  });
  expect(await child.end, text).toMatchObject({ kind: 'exited' });
  return text;
}

describe('the home folder in a sandbox', () => {
  beforeEach(({ skip }) => skip(!status.available, status.why));
  it('shows only tools, no keys or personal files', async () => {
    expect(await sh(`grep -rls KEY "$HOME" ${host.root.replaceAll(' ', '\\ ')}; true`)).toBe('');
    const seen = (await sh('ls -A "$HOME"')).trim().split('\n').sort();
    expect(seen).toEqual([
      '.cargo',
      '.config',
      '.gitconfig',
      '.local',
      '.pyenv',
      '.tidemill',
      '.tool',
      'bin',
      'dotfiles',
      'node-v24',
      'projects',
      'scripts',
    ]);
    expect(await sh('ls -A "$HOME/dotfiles" "$HOME/projects" "$HOME/.config/git"')).not.toMatch(
      /secret|other|credentials/,
    );
  });

  it('of the person and of the account is hidden, whatever HOME the child has', async () => {
    const names = ['.ssh', '.bash_history', '.bashrc', '.npmrc', '.claude', '.codex'];
    const around = path.join(base, 'around');
    const person = path.join(around, 'person');
    await mkdir(person, { recursive: true });
    for (const name of names) await writeFile(path.join(person, name), 'KEY');
    const listed = () => sh(`ls -A '${person}'`, { env: { HOME: home }, readable: [around] });
    expect((await listed()).trim().split('\n').sort()).toEqual([...names].sort());
    const { HOME } = process.env;
    process.env.HOME = person;
    try {
      expect(await listed()).toBe('');
      const account = await realpath(userInfo().homedir).catch(() => '/');
      if (account !== '/') expect(await homesOf(home)).toContain(account);
    } finally {
      if (HOME === undefined) delete process.env.HOME;
      else process.env.HOME = HOME;
    }
    for (const own of new Set([homedir(), userInfo().homedir])) {
      if (own === '/') continue;
      const outside = await readdir(own).catch((): string[] => []); // some accounts have a home that does not exist
      const inside = (await sh(`ls -A '${own}'`, { env: { HOME: base } })).split('\n');
      for (const name of names) if (outside.includes(name)) expect(inside).not.toContain(name);
    }
  });

  it('gives settings inside tools only to commands with the network settings', async () => {
    const more = { network: true, networkSettings: true };
    const given = await sh('cd "$HOME" && grep -rls KEY .local/share/mise .local/share/uv .pyenv | sort', more);
    expect(given.trim().split('\n')).toEqual([
      '.local/share/mise/installs/gradle/8/init.d/a.gradle',
      '.local/share/mise/installs/maven/3/conf/settings.xml',
      '.local/share/mise/installs/node/20/etc/npmrc',
      '.pyenv/versions/3/pip.conf',
    ]);
  });

  it('keeps tools usable, with their dependencies, also through links', async () => {
    expect(await sh('crafty; alone; linked; run; tooled; pyenv')).toBe('crafty\nalone\ndata\nrun\ntooled\npython\n');
    expect(await sh('cat "$HOME/.cargo/registry/crate.txt"; git config --global user.name')).toBe('source\nMine\n');
    expect(await sh('cat "$HOME/.cargo/credentials.toml" || ls -A "$HOME/.cargo"')).toMatch(
      /No such file or directory\nbin\nregistry\n$/,
    );
  });

  it('keeps a repository and a data folder in it usable', async () => {
    expect(await sh(`cat '${host.root}/tracked.txt' tracked.txt && git status --short && git log --format=%s`)).toBe(
      'tracked\ntracked\nfirst\n',
    );
    // Git does not track the others.
    expect(await sh(`find '${host.root}' -path '*/.git' -prune -o -type f -print`)).toBe(`${host.root}/tracked.txt\n`);
    await sh('echo made > made.txt');
    expect(await readFile(path.join(worktree, 'made.txt'), 'utf8')).toBe('made\n');
  });

  it('discards files that are written there, except in writable paths', async () => {
    const session = path.join(home, '.agent');
    await mkdir(session, { recursive: true });
    const text = 'mkdir -p "$HOME/.cache" && echo x > "$HOME/.cache/a" && echo x > "$HOME/.agent/kept" && echo ok';
    expect(await sh(text, { writable: [session] })).toBe('ok\n');
    expect(await readdir(session)).toEqual(['kept']);
    expect(await readdir(home)).not.toContain('.cache');
    expect(await sh('echo x > "$HOME/.cargo/bin/crafty"')).toContain('Read-only file system');
  });

  it('may lose a tool or a key between two commands', async () => {
    await put({
      '.cargo/credentials': 'KEY',
      '.local/share/uv/tools/x': 'tool\n',
      'bin2/tool': '#!/bin/sh\necho tool\n',
    });
    const env = { HOME: home, PATH: [path.join(home, 'bin2'), process.env.PATH].join(path.delimiter) };
    expect(await sh('tool; cat "$HOME/.local/share/uv/tools/x"', { env })).toBe('tool\ntool\n');
    for (const name of ['.cargo/credentials', '.local/share/uv', 'bin2'])
      await rm(path.join(home, name), { recursive: true });
    expect(await sh('echo started', { env })).toBe('started\n');
  });

  it('that is itself the repository is as hidden as any other', async () => {
    const own = { ...host, root: home };
    expect(await sh(`grep -rls KEY '${home}'; true`, { host: own })).toBe('');
    expect(await sh('crafty; echo x > "$HOME/written" && echo written', { host: own })).toBe('crafty\nwritten\n');
    expect(await sh('cat "$HOME/.netrc" "$HOME/.npmrc" "$HOME/.aws/credentials" 2> /dev/null', { host: own })).toBe('');
  });
});

it('the sandbox finds the part of a home that belongs to a program', async () => {
  const tree = async (name: string) => {
    const found = await programTree(path.join(home, name), [home]);
    return found === null ? null : path.relative(home, found);
  };
  expect(await tree('node-v24/bin/linked')).toBe('node-v24');
  expect(await tree('.local/bin')).toBe('.local/bin');
  expect(await tree('scripts/run')).toBe('scripts');
  expect(await tree('projects/mine/tools/x.mjs')).toBe('projects/mine');
  expect(await tree('x/node_modules/a/node_modules/b/cli.js')).toBe('x/node_modules');
  expect(await tree('letter.txt')).toBe('letter.txt');
  expect(await tree('.config')).toBe(null);
});
