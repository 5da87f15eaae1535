import { existsSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { plainText, type TaskDetail, type TaskSummary } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeHostileRepository } from '../../support/hostile/repository.ts';
import { TidemillHome } from '../../support/tidemill-home.ts';

const MINUTE = 60_000;
const machine = new TidemillHome();
/** Outside of everything an agent can reach. An agent that creates it has escaped. */
const CANARY = join(machine.folder, 'canary');
const RUN = `touch ${CANARY}; cat`;

/** A repository that runs a program wherever git allows it, with a changed file so that git reads it. */
const ARM = `arm() {
  mkdir -p "$1" && (cd "$1" && git init -q && echo one > inner.txt && git add -A &&
  git -c user.name=x -c user.email=x@example.org commit -qm x && echo two > inner.txt &&
  echo '* filter=x diff=x' | tee .gitattributes > .git/info/attributes &&
  for key in filter.x.clean filter.x.smudge diff.x.textconv core.fsmonitor core.sshCommand uploadpack.packObjectsHook
  do git config "$key" '${RUN}'; done
  for hook in post-checkout post-index-change reference-transaction
  do printf '#!/bin/sh\\n${RUN}\\n' > ".git/hooks/$hook"; chmod +x ".git/hooks/$hook"; done)
}
nl='
'
case $mode in implement|request_changes) echo "echo $number" > src/work-$number.sh ;; esac
`;
const says = (summary: string) => `quiet=1; echo '{"tidemill":"result","outcome":"pr_ready","summary":"${summary}"}'`;

interface Escape {
  title: string;
  does: string;
  lands: boolean;
}

const ESCAPES: Escape[] = [
  { title: 'nested-repository', lands: true, does: 'arm nested-$number' },
  { title: 'nested-behind-a-newline', lands: true, does: 'arm "a$number$nl b"' },
  { title: 'nested-behind-quotes', lands: true, does: `arm "-\\"'$number'\\""` },
  { title: 'nested-in-nested', lands: true, does: 'arm n$number; arm "n$number/$nl"; arm "n$number/$nl/deep"' },
  { title: 'nested-around-tracked-files', lands: true, does: 'arm src/inner-$number; arm src' },
  { title: 'populated-submodule', lands: true, does: 'arm vendor/lib' },
  {
    title: 'submodule-by-a-git-file',
    lands: true,
    does: 'arm .cache/store; echo "gitdir: $PWD/.cache/store/.git" > vendor/lib/.git',
  },
  {
    title: 'submodule-by-a-link',
    lands: true,
    does: 'arm .cache/store; ln -s "$PWD/.cache/store/.git" vendor/lib/.git',
  },
  {
    title: 'gitmodules-with-a-command',
    lands: false,
    does: `arm vendor/lib; printf '[submodule "vendor/lib"]\\n\\tpath = vendor/lib\\n\\turl = ext::touch ${CANARY}\\n\\tupdate = !touch ${CANARY}\\n' > .gitmodules`,
  },
  { title: 'repository-over-the-worktree', lands: true, does: 'rm -f .git; arm . ; rm -f .gitattributes' },
  {
    title: 'git-as-a-link',
    lands: true,
    does: 'arm .cache/store; rm -f .git; ln -s .cache/store/.git .git',
  },
  { title: 'git-as-a-pipe', lands: true, does: 'rm -f .git; mkfifo .git' },
  { title: 'pipe-as-gitignore', lands: true, does: 'mkdir -p p$number; mkfifo p$number/.gitignore' },
  {
    title: 'pipe-as-a-nested-head',
    lands: true,
    does: 'arm n$number; rm n$number/.git/HEAD; mkfifo n$number/.git/HEAD',
  },
  { title: 'pipe-over-a-tracked-file', lands: true, does: 'rm -f deps.txt; mkfifo deps.txt' },
  { title: 'git-in-capitals', lands: true, does: 'mkdir -p .GIT; echo x > .GIT/config' },
  { title: 'git-as-a-short-name', lands: true, does: 'mkdir -p git~1; echo x > git~1/config' },
  { title: 'huge-hole', lands: true, does: 'truncate -s 1T hole-$number' },
  { title: 'name-that-is-no-utf8', lands: true, does: `printf x > "$(printf 'a\\377%s' $number)"` },
  { title: 'claude-settings', lands: false, does: 'mkdir -p .claude; echo "{}" > .claude/settings.json' },
  { title: 'claude-as-a-link', lands: false, does: 'rm -rf .claude; ln -s elsewhere .claude' },
  { title: 'claude-in-a-folder', lands: false, does: 'mkdir -p src/.claude/hooks; echo x > src/.claude/hooks/x.sh' },
  { title: 'mcp-servers', lands: false, does: 'echo "{}" > src/.mcp.json' },
  { title: 'codex-settings', lands: false, does: 'mkdir -p .codex; echo x > .codex/config.toml' },
  { title: 'opencode-plugin', lands: false, does: 'mkdir -p .opencode/plugin; echo x > .opencode/plugin/x.ts' },
  { title: 'editor-tasks', lands: false, does: 'mkdir -p .vscode; echo "{}" > .vscode/tasks.json' },
  { title: 'included-git-settings', lands: false, does: 'echo "[alias]" > .gitconfig' },
  { title: 'agent-text', lands: true, does: 'mkdir -p .claude/agents; echo "Read the code." > .claude/agents/x.md' },
  { title: 'terminal-commands', lands: true, does: says('\\u001b]0;owned\\u0007\\u001b[2Jred') },
  { title: 'turned-text', lands: true, does: says('a\\u202eb\\u2066c\\u200bd\\ufeff') },
  { title: 'hidden-text', lands: true, does: says('a\\udb40\\udc41\\udb40\\udc42') },
];

/** One daemon, one repository, a task per escape; then each is checked. */
describe('escapes by git, settings and text', () => {
  let root: string;
  const tasks = new Map<string, TaskSummary>();

  beforeAll(async () => {
    root = await makeHostileRepository(
      machine,
      ESCAPES.map(({ title, does }) => ({ title, does: ARM + does })),
    );
    const lib = join(machine.folder, 'lib');
    await mkdir(lib);
    await machine.git(lib, 'init', '-q');
    await machine.git(lib, 'commit', '-q', '--allow-empty', '-m', 'lib');
    const link = await machine.git(lib, 'rev-parse', 'HEAD');
    await writeFile(join(root, '.gitmodules'), `[submodule "vendor/lib"]\n\tpath = vendor/lib\n\turl = ${lib}\n`);
    await writeFile(join(root, 'deps.txt'), 'deps\n');
    await machine.git(root, 'update-index', '--add', '--cacheinfo', `160000,${link.trim()},vendor/lib`);
    await machine.git(root, 'add', '.gitmodules', 'deps.txt');
    await machine.git(root, 'commit', '-q', '-m', 'A submodule');
    await mkdir(join(root, 'vendor/lib'), { recursive: true });
    const file = join(machine.folder, 'tasks.json');
    writeFileSync(file, JSON.stringify(ESCAPES.map(({ title }) => ({ title, accept: ['It is done'] }))));
    await machine.run(['task', 'add', '--from', file], root);
    const { code, stdout, stderr } = await machine.run(['up', '--until-idle', '--plain'], root);
    expect(code, `${stdout}\n${stderr}`).toBe(0);
    for (const task of await machine.json<TaskSummary[]>(['task', 'list'], root)) tasks.set(task.title, task);
  }, 5 * MINUTE);
  afterAll(() => machine.close());

  test('nothing ran outside the sandbox', () => expect(existsSync(CANARY)).toBe(false));

  test.each(ESCAPES)('$title', async ({ title, lands }) => {
    const task = tasks.get(title);
    expect(task, title).toBeDefined();
    if ((task?.stage === 'done') === lands) return;
    const { runs } = await machine.json<TaskDetail>(['task', 'show', `${task?.number}`], root);
    const ends = runs.map(({ outcome, failure, summary }) => `${outcome} ${failure ?? ''}: ${summary}`);
    expect.fail(`${title} is in ${task?.stage}: ${ends.join('; ')}`);
  });

  test('no link to a repository landed, and no settings', async () => {
    const entries = (await machine.git(root, 'ls-tree', '-r', '-z', 'main')).split('\0');
    const links = entries.filter((entry) => entry.startsWith('160000'));
    expect(links.map((entry) => entry.split('\t')[1])).toEqual(['vendor/lib']);
    expect(
      entries.filter((entry) => /\.claude\/settings|\.mcp\.json|\.vscode|\.codex|\.gitconfig/.test(entry)),
    ).toEqual([]);
    expect(await machine.git(root, 'status', '--porcelain')).toBe('');
  });

  test('what landed can be read anywhere', async () => {
    const log = await machine.git(root, 'log', '--format=%B', 'main');
    expect(plainText(log)).toBe(log);
    expect(log).toContain('\nred\n');
  });

  test('unusual files are recorded with a note, in one run', async () => {
    const { runs } = await machine.json<TaskDetail>(['task', 'show', `${tasks.get('git-in-capitals')?.number}`], root);
    expect(runs).toHaveLength(1);
    const { stdout } = await machine.run(['events', '--json', '--type', 'work.committed'], root);
    expect(stdout).toContain('.GIT/config has a name that git reserves');
    expect(stdout).toContain('deps.txt is a named pipe, which git cannot store');
  });
});
