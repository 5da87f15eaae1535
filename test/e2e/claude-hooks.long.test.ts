import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HookRefusal } from '@tidemill/contract';
import { afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { refusalFile } from '../../packages/daemon/src/hooks/hook-record.ts';
import { knowledgeFile } from '../../packages/daemon/src/hooks/session-answer.ts';
import { builtinGuards } from '../contract/guard-bed.ts';
import {
  call,
  type MessagesRequest,
  type MessagesServer,
  type Spoken,
  say,
  startMessagesServer,
  toolResults,
} from '../support/model/messages.ts';
import { CLAUDE_CODE, installVendor } from '../support/vendor.ts';
import { QUIET_CONFIG, TemporaryRepository } from './cli-repository.ts';

const LAUNCHER = inject('launcher');

const NOTEBOOK = JSON.stringify({
  cells: [{ cell_type: 'code', id: 'c', source: '1', metadata: {}, outputs: [], execution_count: null }],
  metadata: { language_info: { name: 'python' } },
  nbformat: 4,
  nbformat_minor: 5,
});

let claude = '';
let missing = '';
beforeAll(async () => {
  const vendor = await installVendor(...CLAUDE_CODE);
  if ('missing' in vendor) missing = vendor.missing;
  else claude = vendor.program;
}, 240_000);

let repository: TemporaryRepository;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  repository = new TemporaryRepository({
    '.env': 'KEY=hunter2\n',
    'huge.txt': 'x'.repeat(2_100_000),
    'long.log': 'line\n'.repeat(1_500),
    'status.json': '{}\n',
    'src/a.ts': 'export {};\n',
  });
  const inside = (name: string) => join(repository.folder, name);
  for (const name of ['home', 'tmp', 'tidemill']) mkdirSync(inside(name));
  env = {
    PATH: process.env.PATH,
    HOME: inside('home'),
    TIDEMILL_HOME: inside('tidemill'),
    CLAUDE_CONFIG_DIR: inside('home/.claude'),
    TMPDIR: inside('tmp'),
    CLAUDE_CODE_TMPDIR: inside('tmp'),
    ANTHROPIC_API_KEY: 'dummy',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_MAX_RETRIES: '1',
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
    ENABLE_TOOL_SEARCH: 'false',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
});
afterEach(() => repository.remove());

function tidemill(...args: string[]): string {
  const done = spawnSync(process.execPath, [LAUNCHER, ...args], { cwd: repository.root, env, encoding: 'utf8' });
  expect(done.status, done.stderr).toBe(0);
  return done.stdout;
}

type Call = { name: string; input: Record<string, unknown> };
const bash = (command: string): Call => ({ name: 'Bash', input: { command, description: 'as asked' } });

/** A person's `claude -p` in the repository, whose model makes these calls; returns what the model received after each. */
async function session(calls: Call[]): Promise<string[]> {
  const requests = await turns([...calls.map(({ name, input }) => call(name, input)), say('done')]);
  return toolResults(requests.at(-1)!);
}

/** The requests that the model got. */
async function turns(
  script: Spoken[],
  prompt = 'go',
  allowed = ['--allowedTools', 'Bash'],
): Promise<MessagesRequest[]> {
  const server: MessagesServer = await startMessagesServer(script);
  try {
    const args = ['-p', prompt, '--permission-mode', 'acceptEdits', ...allowed, '--setting-sources', 'project'];
    const child = spawn(claude, args, {
      cwd: repository.root,
      env: { ...env, ANTHROPIC_BASE_URL: server.url },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    await once(child, 'close');
    expect(server.others).toEqual([]);
    return server.requests;
  } finally {
    await server.stop();
  }
}

describe("a person's own Claude Code", { timeout: 120_000 }, () => {
  test('is checked by every guard after the hooks are installed, and by none after they are removed', async (context) => {
    context.skip(missing !== '', missing);
    repository.write({
      '.tidemill/guards/own.yaml': `- name: louder
  when: { command: '^echo one' }
  verdict: rewrite
  reason: two instead
  rewrite: { set: { command: 'echo two | tee out.txt' } }
`,
    });
    repository.write({ '.tidemill/n.ipynb': NOTEBOOK });
    tidemill('hooks', 'install');
    const notebook = join(repository.root, '.tidemill', 'n.ipynb');
    const cases: [Call, string][] = [
      [bash('echo x > /nowhere/evil.txt'), 'worktree'],
      [{ name: 'Write', input: { file_path: '/nowhere/evil.txt', content: 'x' } }, 'worktree'],
      [
        { name: 'Write', input: { file_path: join(repository.root, '.git/hooks/pre-commit'), content: 'x' } },
        'untouchable',
      ],
      [
        { name: 'Write', input: { file_path: join(repository.root, 'opencode.json'), content: 'x' } },
        'person-settings',
      ],
      [
        { name: 'Write', input: { file_path: join(repository.root, '.claude/settings.json'), content: '{}' } },
        'untouchable',
      ],
      [{ name: 'Read', input: { file_path: join(repository.root, '.env') } }, 'secrets'],
      [{ name: 'Read', input: { file_path: join(repository.root, 'long.log') } }, 'long-log'],
      // Claude Code itself requires that a file is read before it is edited.
      [{ name: 'Read', input: { file_path: notebook } }, ''],
      [{ name: 'NotebookEdit', input: { notebook_path: notebook, cell_id: 'c', new_source: '' } }, 'untouchable'],
      [{ name: 'Read', input: { file_path: join(repository.root, 'status.json') } }, ''],
      [
        {
          name: 'Edit',
          input: { file_path: join(repository.root, 'status.json'), old_string: '{}', new_string: '{"tested": true}' },
        },
        'tested-claim',
      ],
      [bash(`cat '${join(repository.folder, 'tidemill', 'store.db')}'`), 'store'],
      [bash('rm -rf .'), 'whole-worktree'],
      [bash('rm -rf "$NOWHERE/x"'), 'unknown-path'],
      [bash('echo "$(cat .env)"'), 'secrets'],
      [bash('$SOMETHING ~/.ssh/id_rsa'), 'hidden-secrets'],
      [bash('echo bHM= | base64 -d | sh'), 'hidden-command'],
      [bash('env'), 'environment'],
      [bash('git push origin +main'), 'force-push'],
      [bash('git push origin HEAD:main'), 'push'],
      [bash('docker run -v /:/host alpine'), 'container'],
      [bash('cat huge.txt'), 'huge-file'],
      [bash('npm publish'), 'publish'],
      [bash('kubectl delete pod web'), 'infrastructure'],
      [bash('crontab -r'), 'whole-machine'],
      [bash('git branch -D other'), 'branch'],
      [bash('git reset --hard HEAD'), 'lost-work'],
      [bash('git config core.hooksPath x'), 'git-settings'],
      [bash('tidemill hooks uninstall'), 'tidemill-commands'],
    ];
    // A person's own session has no review mode, and it searches with the shell.
    const elsewhere = ['reviewer', 'reviewer-files', 'reviewer-git', 'secrets-in-search'];
    const named = cases.map(([, guard]) => guard).filter((guard) => guard !== '');
    expect([...new Set([...named, ...elsewhere])].toSorted()).toEqual(await builtinGuards('own'));
    const replies = await session([...cases.map(([made]) => made), bash('echo one'), bash('echo free > free.txt')]);
    cases.forEach(([made, guard], index) => {
      expect(replies[index], JSON.stringify(made)).toContain(guard === '' ? '' : `(guard: ${guard})`);
    });
    expect(replies.join('\n')).not.toContain('hunter2');
    expect(replies[cases.length]).toBe('two');
    expect(readFileSync(join(repository.root, 'out.txt'), 'utf8')).toBe('two\n');
    expect(existsSync(join(repository.root, 'free.txt'))).toBe(true);
    expect(repository.git('branch', '--show-current')).toBe('main');

    tidemill('hooks', 'uninstall');
    expect(existsSync(join(repository.root, '.claude', 'settings.json'))).toBe(false);
    const [freed] = await session([bash('git stash list')]);
    expect(freed).not.toContain('guard:');
  });

  test('starts with what was learned, and is sent back once when the tests did not run after a change', async (context) => {
    context.skip(missing !== '', missing);
    repository.write({
      '.tidemill/config.yaml': QUIET_CONFIG.replace('"true" }', '"sh test.sh" }'),
      'test.sh': 'echo fine\n',
    });
    tidemill('hooks', 'install');
    mkdirSync(join(repository.folder, 'tidemill', 'hooks'), { recursive: true });
    writeFileSync(
      knowledgeFile(join(repository.folder, 'tidemill'), repository.root),
      'Known: ports are in ports.ts\n',
    );
    const write = (name: string) => call('Write', { file_path: join(repository.root, name), content: 'export {};\n' });
    const asked = await turns([
      write('src/b.ts'),
      say('done'),
      call('Bash', bash('sh test.sh').input),
      say('now it is done'),
    ]);
    expect(JSON.stringify(asked[0]!.body.messages)).toContain('Known: ports are in ports.ts');
    expect(asked).toHaveLength(4);
    expect(JSON.stringify(asked[2]!.body.messages)).toContain(
      'src/b.ts was changed, and the tests did not run after that',
    );
    expect(toolResults(asked[3]!).at(-1)).toContain('fine');
    const refused = readFileSync(refusalFile(join(repository.folder, 'tidemill'), repository.root), 'utf8');
    expect(
      refused
        .trim()
        .split('\n')
        .map((line) => HookRefusal.parse(JSON.parse(line))),
    ).toMatchObject([{ guard: 'stop' }]);
  });

  test('adds a task with /project-create and puts it first with /project-start, without further permissions', async (context) => {
    context.skip(missing !== '', missing);
    repository.write({ '.tidemill/config.yaml': QUIET_CONFIG });
    const bin = join(repository.folder, 'bin');
    mkdirSync(bin);
    const launch = `exec '${process.execPath}' '${LAUNCHER}' "$@"`;
    writeFileSync(join(bin, 'tidemill'), `#!/bin/sh\n${launch}\n`, { mode: 0o755 });
    env.PATH = `${bin}:${env.PATH}`;
    expect(tidemill('hooks', 'install')).toContain('added /project-create and /project-start');
    const add = bash(`tidemill task add "Log out" --body "Ends the session" --accept "The cookie is gone"`);
    const created = await turns([call('Bash', add.input), say('done')], '/project-create log out', []);
    expect(JSON.stringify(created[0]!.body.messages)).toContain('three to seven acceptance criteria');
    expect(JSON.stringify(created[0]!.body.messages)).toContain('log out');
    expect(toolResults(created.at(-1)!).join()).toContain('#1 added');
    const start = bash(`tidemill task start 1`);
    const refused = bash(`tidemill task approve 1`);
    const script = [call('Bash', start.input), call('Bash', refused.input), say('done')];
    const started = await turns(script, '/project-start 1', []);
    expect(JSON.stringify(started[0]!.body.messages)).toContain('The task: 1');
    const [first, second] = toolResults(started.at(-1)!);
    expect(first).toContain('#1 Log out: is next.');
    // The command lets the session start a task, not decide for the person.
    expect(second).not.toContain('does not wait for approval');
    expect(JSON.parse(tidemill('task', 'show', '1', '--json'))).toMatchObject({
      task: { title: 'Log out', priority: 0, criteria: [{ text: 'The cookie is gone' }] },
    });
    tidemill('hooks', 'uninstall');
    expect(existsSync(join(repository.root, '.claude'))).toBe(false);
  });

  test('runs no tool when the program of the hook is missing, or the guards are invalid', async (context) => {
    context.skip(missing !== '', missing);
    tidemill('hooks', 'install');
    const settings = join(repository.root, '.claude', 'settings.json');
    const installed = readFileSync(settings, 'utf8');
    writeFileSync(settings, installed.replace(LAUNCHER, '/nowhere/tidemill.mjs'));
    await session([bash('touch made.txt')]);
    expect(existsSync(join(repository.root, 'made.txt'))).toBe(false);
    writeFileSync(settings, installed);
    repository.write({ '.tidemill/guards/own.yaml': '- { name: broken\n' });
    const [reply] = await session([bash('touch made.txt')]);
    expect(reply).toContain('own.yaml:');
    expect(existsSync(join(repository.root, 'made.txt'))).toBe(false);
  });
});
