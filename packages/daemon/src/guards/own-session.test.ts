import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Guards, GuardVerdict } from '../ports.ts';
import { createGuards } from './guards.ts';

let folder: string;
let worktree: string;
let guards: Guards;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tidemill-own-session-')));
  worktree = join(folder, 'repository');
  mkdirSync(join(worktree, '.tidemill', 'guards'), { recursive: true });
  writeFileSync(
    join(worktree, '.tidemill', 'guards', 'team.yaml'),
    "- { name: deploys, when: { session: own, command: '^make deploy' }, verdict: allow, reason: we do that }\n" +
      "- { name: no-deploys, when: { session: agent, command: '^make deploy' }, verdict: deny, reason: not here }\n",
  );
  guards = await createGuards({ root: worktree, dataDir: join(folder, 'data') });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const own = (tool: string, input: Record<string, unknown>) =>
  guards.check({ tool, input }, { worktree, mode: 'implement', session: 'own' });
const said = (verdict: GuardVerdict) =>
  verdict.kind === 'deny' ? `${verdict.asks ? 'asks' : 'refuses'}: ${verdict.guard}` : verdict.kind;

describe("a person's own session", () => {
  test.each([
    'git switch -c feature',
    'git checkout -b feature',
    'git checkout main',
    'git worktree add ../feature',
    'git stash && git stash pop',
    'git commit -am "Add it"',
    'cat /opt/notes.txt',
    'cd /opt && ls',
    'mkdir -p /tmp/scratch && echo x > /tmp/scratch/a.txt',
    'rm -rf /tmp/scratch/x',
    'tidemill task start 7',
    'tidemill status',
    'make deploy',
  ])('may run %s', async (command) => {
    expect(said(await own('Bash', { command }))).toBe('allow');
  });

  test.each([
    join(homedir(), '.claude/plans/plan.md'),
    join(homedir(), '.claude/projects/-repository/memory/MEMORY.md'),
    '/tmp/claude-0/scratchpad/a.json',
    join(tmpdir(), 'scratch.txt'),
  ])('may write %s', async (file_path) => {
    expect(said(await own('Write', { file_path, content: 'x' }))).toBe('allow');
  });

  test.each<[command: string, guard: string]>([
    ['git push origin feature', 'push'],
    ['gh pr create --fill', 'push'],
    ['git push --force-with-lease', 'force-push'],
    ['git worktree remove x', 'branch'],
    ['git branch -D x', 'branch'],
    ['git checkout --force main', 'branch'],
    ['git reset --hard HEAD~1', 'lost-work'],
    ['npm publish', 'publish'],
    ['kubectl apply -f x.yaml', 'infrastructure'],
    ['curl -s http://127.0.0.1/x | sh', 'hidden-command'],
    ['echo x > /opt/notes.txt', 'worktree'],
    ['rm -rf /srv/other', 'worktree'],
    ['rm -rf "$SOMEWHERE"', 'unknown-path'],
    ['echo x >> .tidemill/config.yaml', 'untouchable'],
    ['echo {} > .mcp.json', 'person-settings'],
  ])('asks the person about %s', async (command, guard) => {
    expect(said(await own('Bash', { command }))).toBe(`asks: ${guard}`);
  });

  test.each<[command: string, guard: string]>([
    ['cat .env', 'secrets'],
    ['kill -9 -1', 'whole-machine'],
    ['echo x > .git/hooks/pre-commit', 'untouchable'],
    ['tidemill answer Q1.1 Approve', 'tidemill-commands'],
    ['tidemill guards bypass push --why x', 'tidemill-commands'],
    // One refusal is enough, whatever else is only asked.
    ['git push && cat .env', 'secrets'],
  ])('may not run %s', async (command, guard) => {
    expect(said(await own('Bash', { command }))).toBe(`refuses: ${guard}`);
  });

  test('is told sentences that are true there', async () => {
    const reason = async (command: string) => ((await own('Bash', { command })) as { reason: string }).reason;
    expect(await reason('git push')).toMatch(/^"git push" would publish work of this session/);
    expect(await reason('tidemill task approve 7')).toMatch(/can type it here themselves: ! tidemill task approve 7$/);
    for (const command of ['git push', 'git reset --hard', 'echo x > /opt/x', 'cat .env', 'rm "$X"', 'npm publish'])
      expect(await reason(command), command).not.toMatch(/your task|leave the change in the worktree|your worktree/i);
  });
});

test("a rule for own sessions does not hold in Tidemill's runs, and the other way round", async () => {
  const call = { tool: 'Bash', input: { command: 'make deploy' } };
  expect(said(await guards.check(call, { worktree, mode: 'implement' }))).toBe('refuses: no-deploys');
  expect(said(await guards.check(call, { worktree, mode: 'implement', session: 'own' }))).toBe('allow');
});

test('a guard that asks must be for own sessions, because nobody can be asked during a run', async () => {
  const root = join(folder, 'asking');
  mkdirSync(join(root, '.tidemill', 'guards'), { recursive: true });
  writeFileSync(
    join(root, '.tidemill', 'guards', 'a.yaml'),
    "- { name: a, when: { command: '^a' }, verdict: ask, reason: x }\n",
  );
  await expect(createGuards({ root, dataDir: join(folder, 'data') })).rejects.toThrow(/a\.yaml:1.*session: own/);
});
