import { spawnSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { answerHook } from './hook-answer.ts';
import { createOwnSessions } from './own-sessions.ts';
import { installHook, uninstallHook } from './settings.ts';

let folder: string;
let file: string;
let dataDir: string;
const COMMAND = 'tidemill guard || exit 2';
const COMMANDS = { guard: COMMAND, session: 'tidemill guard || exit 0' };
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tidemill-hooks-')));
  file = join(folder, '.claude', 'settings.json');
  dataDir = join(folder, 'data');
  mkdirSync(join(folder, '.git'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(text: string): void {
  mkdirSync(join(folder, '.claude'), { recursive: true });
  writeFileSync(file, text);
}
const settings = () =>
  JSON.parse(readFileSync(file, 'utf8')) as {
    hooks: Record<'PreToolUse' | 'Stop' | 'SubagentStop' | 'SessionStart' | 'UserPromptSubmit', { hooks: object[] }[]>;
  };
const OTHER = '{"matcher": "Write", "hooks": [{"type": "command", "command": "lint {}, \\"x\\" ["}]}';

describe('hooks install and uninstall', () => {
  test.each<[what: string, text: string]>([
    ['an empty object', '{}'],
    ['other settings', '{\n  "permissions": { "allow": ["Bash(ls:*)"] }\n}\n'],
    ['tabs, and no newline at the end', '{\n\t"model": "opus",\n\t"env": {}\n}'],
    ['Windows line ends', '{\r\n  "model": "opus"\r\n}\r\n'],
    ['one line', '{"model":"opus","hooks":{"Stop":[]}}'],
    ['hooks of other events', '{\n  "hooks": {\n    "Stop": [{ "hooks": [] }]\n  },\n  "model": "opus"\n}\n'],
    ['other hooks before tools', `{\n  "hooks": {\n    "PreToolUse": [\n      ${OTHER}\n    ]\n  }\n}\n`],
    ['a list without entries', '{ "hooks": { "PreToolUse": [ ] } }\n'],
    ['hooks without entries', '{ "hooks": {} }'],
    ['nothing but blanks', '  \n'],
  ])('merge into a file and restore it byte for byte: %s', (_what, text) => {
    put(text);
    expect(installHook({ file, dataDir }, COMMANDS)).toBe(true);
    const groups = settings().hooks.PreToolUse;
    expect(groups.at(-1)).toEqual({ matcher: '*', hooks: [{ type: 'command', command: COMMAND, timeout: 10 }] });
    expect(groups).toHaveLength(text.includes('lint') ? 2 : 1);
    for (const event of ['Stop', 'SubagentStop', 'SessionStart', 'UserPromptSubmit'] as const)
      expect(settings().hooks[event]!.at(-1)).toEqual({
        hooks: [{ type: 'command', command: COMMANDS.session, timeout: 5 }],
      });
    expect(installHook({ file, dataDir }, COMMANDS)).toBe(false);
    expect(uninstallHook({ file, dataDir })).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(uninstallHook({ file, dataDir })).toBe(false);
  });

  test.each<[what: string, text: string]>([
    ['in an empty object', '{\n  // mine\n}\n'],
    ['behind the last entry', '{\n  "model": "opus" // the large one\n  /* more to come */\n}\n'],
    ['behind a comma', '{\n  "hooks": { // all\n    "Notification": [], /* none */\n  }, // end\n}\n'],
    ['in a list', `{\n  "hooks": {\n    "PreToolUse": [\n      // lint\n      ${OTHER} // first\n    ]\n  }\n}\n`],
  ])('a comment %s stays, with the receipt and without', (_what, text) => {
    for (const keepsReceipt of [true, false]) {
      put(text);
      installHook({ file, dataDir }, COMMANDS);
      const after = readFileSync(file, 'utf8');
      for (const comment of text.match(/.*(\/\/.*|\/\*.*\*\/)/g) ?? [])
        expect(after.replaceAll(',', '')).toContain(comment.replaceAll(',', ''));
      expect(installHook({ file, dataDir }, COMMANDS)).toBe(false);
      if (!keepsReceipt) rmSync(dataDir, { recursive: true });
      expect(uninstallHook({ file, dataDir })).toBe(true);
      expect(readFileSync(file, 'utf8')).toBe(text);
    }
  });

  test('a folder that was created for the file is removed with it, and an existing one stays', () => {
    for (const isThere of [false, true]) {
      if (isThere) mkdirSync(join(folder, '.claude'));
      installHook({ file, dataDir }, COMMANDS);
      expect(uninstallHook({ file, dataDir })).toBe(true);
      expect(existsSync(file)).toBe(false);
      expect(existsSync(join(folder, '.claude'))).toBe(isThere);
    }
  });

  test('without the receipt, and after changes by a person, only our entry is removed', () => {
    put(`{\n  "hooks": {\n    "PreToolUse": [\n      ${OTHER}\n    ]\n  }\n}\n`);
    installHook({ file, dataDir }, COMMANDS);
    const changed = readFileSync(file, 'utf8').replace('{\n  "hooks"', '{\n  "model": "opus",\n  "hooks"');
    put(changed);
    rmSync(dataDir, { recursive: true });
    uninstallHook({ file, dataDir });
    expect(readFileSync(file, 'utf8')).toBe(
      `{\n  "model": "opus",\n  "hooks": {\n    "PreToolUse": [\n      ${OTHER}\n    ]\n  }\n}\n`,
    );
  });

  test('a hook that a person added next to ours stays', () => {
    const ours = `{"type":"command","command":"${COMMAND}"}`;
    put(`{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"x"},${ours}]}]}}`);
    uninstallHook({ file, dataDir });
    expect(readFileSync(file, 'utf8')).toBe(
      '{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"x"}]}]}}',
    );
  });

  test('a file that did not exist is removed again', () => {
    installHook({ file, dataDir }, COMMANDS);
    expect(settings().hooks.PreToolUse).toHaveLength(1);
    uninstallHook({ file, dataDir });
    expect(existsSync(file)).toBe(false);
  });

  test('a moved program replaces the old entry, and uninstall still restores the original', () => {
    put('{ "hooks": {} }');
    const old = "'/old/node' '/old/tidemill.mjs' guard";
    installHook(
      { file, dataDir },
      { guard: `${old} || exit 2 # tidemill guard`, session: `${old} || exit 0 # tidemill guard` },
    );
    installHook({ file, dataDir }, COMMANDS);
    expect(settings().hooks.PreToolUse).toHaveLength(1);
    uninstallHook({ file, dataDir });
    expect(readFileSync(file, 'utf8')).toBe('{ "hooks": {} }');
  });

  test('a link stays a link', () => {
    const target = join(folder, 'shared.json');
    writeFileSync(target, '{}');
    mkdirSync(join(folder, '.claude'));
    symlinkSync(target, file);
    installHook({ file, dataDir }, COMMANDS);
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, 'utf8')).toContain(COMMAND);
  });

  test.each<[what: string, text: string, says: RegExp]>([
    ['broken JSON', '{\n  "hooks": {,\n}', /line 2/],
    ['a comment that never ends', '{\n  /* mine\n}', /line 2/],
    ['a list', '[]', /expected object/i],
    ['hooks of another kind', '{"hooks": []}', /hooks: .*expected object/i],
    ['a matcher that is no list', '{"hooks": {"PreToolUse": {}}}', /hooks\.PreToolUse: .*expected array/i],
  ])('%s is refused and not changed', (_what, text, says) => {
    put(text);
    expect(() => installHook({ file, dataDir }, COMMANDS)).toThrow(says);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('any settings are restored byte for byte, with the receipt and without', () => {
    const layout = fc.constantFrom<string | number | undefined>(undefined, 1, 2, 4, '\t');
    const group = fc.record({ matcher: fc.string(), hooks: fc.array(fc.record({ command: fc.string() })) });
    const hooks = fc.record(
      { PreToolUse: fc.array(group, { minLength: 1 }), Stop: fc.array(group, { minLength: 1 }) },
      { requiredKeys: ['PreToolUse'] },
    );
    const value = fc.record({ hooks, model: fc.string(), env: fc.dictionary(fc.string(), fc.jsonValue()) });
    fc.assert(
      fc.property(value, layout, fc.boolean(), (some, indent, keepsReceipt) => {
        const text = JSON.stringify(some, null, indent);
        put(text);
        installHook({ file, dataDir }, COMMANDS);
        expect(settings().hooks.PreToolUse.length).toBe(some.hooks.PreToolUse.length + 1);
        if (!keepsReceipt) rmSync(dataDir, { recursive: true });
        uninstallHook({ file, dataDir });
        expect(readFileSync(file, 'utf8')).toBe(text);
      }),
      { numRuns: 150 },
    );
  });
});

describe('tidemill guard', () => {
  const ask = (tool_name: string, tool_input: unknown, more: object = {}, env: object = {}) =>
    answerHook(JSON.stringify({ hook_event_name: 'PreToolUse', tool_name, tool_input, cwd: folder, ...more }), {
      TIDEMILL_HOME: dataDir,
      ...env,
    });

  test('allows without output, and refuses with exit code 2 and the reason', async () => {
    expect(await ask('Bash', { command: 'npm test' })).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    const refused = await ask('Bash', { command: 'cat .env' });
    expect(refused).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining('(guard: secrets)') });
  });

  test('has Claude Code ask the person, and refuses where an agent of Tidemill uses the same hooks', async () => {
    const { exitCode, stdout } = await ask('Bash', { command: 'git push' });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'ask',
        permissionDecisionReason: expect.stringMatching(/^"git push" would publish .*\(guard: push\)$/),
      },
    });
    const calls = readFileSync(join(dataDir, 'calls', readdirSync(join(dataDir, 'calls'))[0]!), 'utf8');
    expect(JSON.parse(calls.trim())).toMatchObject({ verdict: 'asked', guard: 'push' });
    expect(await ask('Bash', { command: 'git push' }, {}, { TIDEMILL_RUN: 'run_1' })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Agents push nothing'),
    });
  });

  test('accepts a claim next to the hash of evidence that passed, and data of tests', async () => {
    const [proven, other] = ['ab'.repeat(32), 'cd'.repeat(32)];
    await createOwnSessions({ root: folder, dataDir }).prove([proven]);
    const claim = (evidence: string) =>
      ask('Write', { file_path: 'status.json', content: `{"tested": true, "evidence": "${evidence}"}` });
    expect(await claim(proven)).toMatchObject({ exitCode: 0 });
    expect(await claim(other)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('(guard: tested-claim)') });
    const user = '{"email": "a@example.com", "verified": true}';
    expect(await ask('Write', { file_path: 'test/fixtures/user.json', content: user })).toMatchObject({ exitCode: 0 });
    expect(await ask('Write', { file_path: 'user.json', content: user })).toMatchObject({ exitCode: 2 });
  });

  test('uses the repository around the working directory as the worktree', async () => {
    mkdirSync(join(folder, 'src', 'deep'), { recursive: true });
    const cwd = join(folder, 'src', 'deep');
    expect(await ask('Write', { file_path: '../../x.ts', content: '' }, { cwd })).toMatchObject({ exitCode: 0 });
    const run = { TIDEMILL_RUN: 'run_1' };
    const outside = await ask('Write', { file_path: '../../../x.ts', content: '' }, { cwd }, run);
    expect(outside).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('(guard: worktree)') });
  });

  test("asks the repository's own guards, also after they changed", async () => {
    mkdirSync(join(folder, '.tidemill', 'guards'), { recursive: true });
    const own = join(folder, '.tidemill', 'guards', 'own.yaml');
    expect(await ask('Bash', { command: 'make all' })).toMatchObject({ exitCode: 0 });
    writeFileSync(own, "- { name: make, when: { command: '^make' }, verdict: deny, reason: no make }\n");
    expect(await ask('Bash', { command: 'make all' })).toMatchObject({
      exitCode: 2,
      stderr: 'no make (guard: make)\n',
    });
    writeFileSync(
      own,
      "- { name: make, when: { command: '^make' }, verdict: rewrite, reason: quiet, rewrite: { replace: { field: command, pattern: make, with: make -s } } }\n",
    );
    const { exitCode, stdout } = await ask('Bash', { command: 'make all', timeout: 5 });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: { command: 'make -s all', timeout: 5 } },
    });
    writeFileSync(own, '- { name: make\n');
    expect(await ask('Bash', { command: 'ls' })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/own\.yaml:[\s\S]*repairs or moves the file[\s\S]*tidemill hooks uninstall/),
    });
  });

  test.each<[what: string, text: string]>([
    ['nothing', ''],
    ['no JSON', 'hello'],
    ['a list', '[]'],
    ['no tool', '{"hook_event_name":"PreToolUse","tool_input":{},"cwd":"/"}'],
    ['no input', '{"hook_event_name":"PreToolUse","tool_name":"Bash","cwd":"/"}'],
    ['no working directory', '{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}'],
  ])('%s on standard input is refused', async (_what, text) => {
    expect(await answerHook(text, { TIDEMILL_HOME: dataDir })).toMatchObject({ exitCode: 2 });
  });

  test('the program itself responds with its exit code', () => {
    const launcher = join(import.meta.dirname, '..', '..', 'bin', 'tidemill.mjs');
    const run = (command: string) =>
      spawnSync(process.execPath, [launcher, 'guard'], {
        input: JSON.stringify({
          hook_event_name: 'PreToolUse',
          tool_name: 'Bash',
          tool_input: { command },
          cwd: folder,
        }),
        env: { PATH: process.env.PATH, HOME: folder, TIDEMILL_HOME: dataDir },
        encoding: 'utf8',
      });
    expect(run('ls')).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(run('cat .env')).toMatchObject({ status: 2, stderr: expect.stringContaining('(guard: secrets)') });
  });
});
