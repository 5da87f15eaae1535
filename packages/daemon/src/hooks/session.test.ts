import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CallEntry, HookRefusal } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { callFile } from '../guards/call-log.ts';
import { answerHook } from './hook-answer.ts';
import { refusalFile } from './hook-record.ts';
import { knowledgeFile } from './session-answer.ts';

let folder: string;
let dataDir: string;
let transcript: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tidemill-session-')));
  dataDir = join(folder, 'data');
  transcript = join(folder, 'transcript.jsonl');
  mkdirSync(join(folder, '.git'));
  mkdirSync(join(folder, '.tidemill'));
  writeFileSync(join(folder, '.tidemill', 'config.yaml'), CONFIG);
  writeFileSync(join(folder, 'package.json'), '{"scripts":{"test":"tsc --noEmit && node --test","build":"tsc"}}');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const CONFIG = `target: main
agents:
  default: { type: command, command: ["true"] }
gates:
  - { name: test, run: "npm test" }
  - { name: format, run: "npm run format" }
`;

const answer = (event: string, more: object = {}) =>
  answerHook(
    JSON.stringify({ hook_event_name: event, cwd: folder, session_id: 's-1', transcript_path: transcript, ...more }),
    { TIDEMILL_HOME: dataDir },
  );
const SILENT = { exitCode: 0, stdout: '', stderr: '' };
const lines = (file: string) =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

type Use = [tool: string, input: Record<string, unknown>, result?: string, isError?: boolean];
const edit = (file: string): Use => ['Edit', { file_path: join(folder, file) }, 'done'];
const bash = (command: string, result = 'ok', isError = false): Use => ['Bash', { command }, result, isError];

/** A transcript of Claude Code with these tool uses. */
function session(...uses: Use[]): void {
  const rows = uses.flatMap(([name, input, content, is_error = false], index) => {
    const id = `toolu_${index}`;
    const asked = { type: 'assistant', message: { content: [{ type: 'tool_use', id, name, input }] } };
    const got = { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: id, content, is_error }] } };
    return content === undefined ? [asked] : [asked, got];
  });
  writeFileSync(transcript, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
}

describe('a session that stops', () => {
  test.each<[what: string, uses: () => Use[], says: RegExp | null]>([
    ['changed nothing', () => [bash('ls')], null],
    ['changed a file and ran no test', () => [edit('src/a.ts')], /src\/a\.ts was changed.*`npm test`/],
    ['ran the tests before the change', () => [bash('npm test'), edit('src/a.ts')], /did not run after that/],
    ['ran the tests after the change', () => [edit('src/a.ts'), bash('cd . && npm test -- --run')], null],
    ['only named the tests', () => [edit('src/a.ts'), bash('echo npm test')], /did not run after that/],
    ['ran another gate', () => [edit('src/a.ts'), bash('npm run format')], /did not run after that/],
    ['saw the tests fail', () => [edit('src/a.ts'), bash('npm test', 'Exit code 1', true)], /failed the last time/],
    ['got no output of the tests', () => [edit('src/a.ts'), bash('npm test', '\n')], /printed nothing/],
    ['has no result of the tests', () => [edit('src/a.ts'), ['Bash', { command: 'npm test' }]], /did not run after/],
    ['changed prose', () => [edit('README.md')], null],
    ['ran npm run test', () => [edit('src/a.ts'), bash('npm run test -- a')], null],
    ['ran npm t', () => [edit('src/a.ts'), bash('npm t')], null],
    [
      "ran the script's own command",
      () => [edit('src/a.ts'), bash('node --test test/a.test.js', 'ℹ tests 2\nℹ pass 2\nℹ fail 0')],
      null,
    ],
    ['ran another script', () => [edit('src/a.ts'), bash('npm run build')], /did not run after that/],
    ['wrote by sed -i', () => [bash('npm test'), bash("sed -i 's/a/b/' src/a.ts", '')], /src\/a\.ts was changed/],
    ['wrote by a here-document', () => [bash("cat > src/b.ts <<'EOF'\nx\nEOF", '')], /src\/b\.ts was changed/],
    ['wrote and tested in one command', () => [bash('sed -i s/a/b/ src/a.ts && npm test')], null],
    ['wrote only a log', () => [bash('npm run build > build.log', '')], null],
    [
      'hid failures in a pipe',
      () => [edit('src/a.ts'), bash('npm test | tail -5', 'Tests  1 failed | 5 passed (6)')],
      /1 of its tests failed/,
    ],
    [
      'hid failures by || true',
      () => [edit('src/a.ts'), bash('npm test || true', '# tests 3\n# pass 1\n# fail 2')],
      /2 of its tests failed/,
    ],
    [
      'showed passing figures through a pipe',
      () => [edit('src/a.ts'), bash('npm test 2>&1 | tail -5', 'Tests  6 passed (6)')],
      null,
    ],
    [
      'showed only the passes and failures through a pipe',
      () => [edit('src/a.ts'), bash('npm test | grep -E "pass|fail"', 'ℹ pass 6\nℹ fail 0')],
      null,
    ],
    [
      'showed failures through grep',
      () => [edit('src/a.ts'), bash('npm test | grep -E "pass|fail"', 'ℹ pass 6\nℹ fail 2')],
      /2 of its tests failed/,
    ],
    [
      'showed no figures through a pipe',
      () => [edit('src/a.ts'), bash('npm test | head -1', '> a@1.0.0 test')],
      /neither its exit code nor its figures/,
    ],
    [
      'ran 0 tests',
      () => [edit('src/a.ts'), bash('npm test', 'ℹ tests 0\nℹ suites 0\nℹ pass 0\nℹ fail 0')],
      /ran 0 tests/,
    ],
    ['changed a file elsewhere', () => [['Write', { file_path: '/tmp/x.ts' }, 'done']], null],
    ['failed to change a file', () => [['Edit', { file_path: join(folder, 'a.ts') }, 'no match', true]], null],
  ])('is judged when it %s', async (_what, uses, says) => {
    session(...uses());
    for (const event of ['Stop', 'SubagentStop']) {
      const { exitCode, stdout } = await answer(event);
      expect(exitCode).toBe(0);
      if (says === null) expect(stdout).toBe('');
      else expect(JSON.parse(stdout)).toEqual({ decision: 'block', reason: expect.stringMatching(says) });
    }
    if (says !== null) expect(lines(refusalFile(dataDir, folder))).toHaveLength(2);
  });

  test('that is a tester runs the tests, also when it changed nothing', async () => {
    const stop = async (agent_type: string) => (await answer('SubagentStop', { agent_type })).stdout;
    session(bash('ls'));
    expect(JSON.parse(await stop('tester'))).toMatchObject({
      reason: expect.stringMatching(/no tests ran.*`npm test`/),
    });
    expect(await stop('reviewer')).toBe('');
    session(bash('npm test'));
    expect(await stop('tester')).toBe('');
  });

  test('is asked once only, and a subagent is judged by its own transcript', async () => {
    session(edit('src/a.ts'));
    expect(await answer('Stop', { stop_hook_active: true })).toEqual(SILENT);
    const own = join(folder, 'agent.jsonl');
    writeFileSync(own, '');
    expect(await answer('SubagentStop', { agent_transcript_path: own })).toEqual(SILENT);
    expect((await answer('SubagentStop')).stdout).toContain('block');
  });

  test.each<[what: string, prepare: () => void]>([
    ['no transcript', () => rmSync(transcript)],
    ['a transcript that is no JSON', () => writeFileSync(transcript, '"tool_use\n{"tool_\n[]\n')],
    ['an invalid config', () => writeFileSync(join(folder, '.tidemill', 'config.yaml'), 'gates: {{')],
    ['no config', () => rmSync(join(folder, '.tidemill'), { recursive: true })],
  ])('is not held back with %s', async (_what, prepare) => {
    session(edit('src/a.ts'));
    prepare();
    expect(await answer('Stop')).toEqual(SILENT);
  });
});

describe('a session that starts', () => {
  test('gets what was learned, at most about 1,000 tokens, and nothing when nothing was', async () => {
    expect(await answer('SessionStart')).toEqual(SILENT);
    mkdirSync(join(dataDir, 'hooks'), { recursive: true });
    writeFileSync(knowledgeFile(dataDir, folder), `Known: ${'x'.repeat(10_000)}`);
    const { hookSpecificOutput } = JSON.parse((await answer('SessionStart')).stdout) as {
      hookSpecificOutput: { hookEventName: string; additionalContext: string };
    };
    expect(hookSpecificOutput.hookEventName).toBe('SessionStart');
    expect(hookSpecificOutput.additionalContext).toMatch(/^Known: x+$/);
    expect(hookSpecificOutput.additionalContext.length / 4).toBeLessThanOrEqual(1_000);
  });
});

describe('a prompt of a session', () => {
  test.each([
    'no, use the existing helper',
    "That's not what I asked for",
    'Stop editing generated files',
    'you forgot the test, token=hunter2',
    'Use tabs instead of spaces',
  ])('that corrects is kept for the daemon: %s', async (prompt) => {
    expect(await answer('UserPromptSubmit', { prompt })).toEqual(SILENT);
    expect(lines(refusalFile(dataDir, folder)).map((line) => HookRefusal.parse(line))).toMatchObject([
      { kind: 'corrected', session: 's-1', reason: prompt.replace('hunter2', '***') },
    ]);
  });

  test.each([
    'Add a note about ports',
    'nothing works here',
    '/project-start 7',
    'Now the tests',
    `no, ${'x'.repeat(700)}`,
  ])('that asks for work is not kept: %s', async (prompt) => {
    expect(await answer('UserPromptSubmit', { prompt })).toEqual(SILENT);
    expect(existsSync(refusalFile(dataDir, folder))).toBe(false);
  });
});

describe('the work of a session', () => {
  const guard = (command: string) => answer('PreToolUse', { tool_name: 'Bash', tool_input: { command } });

  test('is recorded without secrets and independent of the folder, and a refusal is kept for the daemon', async () => {
    expect((await guard(`cat ${folder}/src/a.ts token=hunter2`)).exitCode).toBe(0);
    expect((await guard('cat .env')).exitCode).toBe(2);
    const calls = lines(callFile(dataDir, folder)).map((line) => CallEntry.parse(line));
    expect(calls).toMatchObject([
      { verdict: 'allowed', guard: null, source: 'session', from: 's-1', cwd: '{worktree}' },
      { verdict: 'refused', guard: 'secrets', input: { command: 'cat .env' } },
    ]);
    expect(calls[0]!.input.command).toBe('cat {worktree}/src/a.ts token=***');
    expect(lines(refusalFile(dataDir, folder)).map((line) => HookRefusal.parse(line))).toMatchObject([
      { guard: 'secrets', session: 's-1', call: { tool: 'Bash' }, reason: expect.stringContaining('.env') },
    ]);
  });

  test('in a linked worktree counts for the main checkout', async () => {
    const linked = join(folder, 'linked');
    mkdirSync(linked);
    writeFileSync(join(linked, '.git'), `gitdir: ${folder}/.git/worktrees/linked\n`);
    await answer('PreToolUse', { tool_name: 'Read', tool_input: { file_path: join(linked, 'a.ts') }, cwd: linked });
    expect(lines(callFile(dataDir, folder))).toMatchObject([{ input: { file_path: '{worktree}/a.ts' } }]);
  });

  test('is decided also where nothing can be recorded', async () => {
    writeFileSync(dataDir, 'a file, not a folder');
    expect((await guard('ls')).exitCode).toBe(0);
    expect((await guard('cat .env')).exitCode).toBe(2);
  });

  test('is not recorded for the daemon without limit', async () => {
    mkdirSync(join(dataDir, 'hooks'), { recursive: true });
    writeFileSync(refusalFile(dataDir, folder), 'x'.repeat(1024 * 1024 + 1));
    await guard('cat .env');
    expect(readFileSync(refusalFile(dataDir, folder), 'utf8')).toHaveLength(1024 * 1024 + 1);
  });
});
