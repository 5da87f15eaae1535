import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PromptView, TaskDetail } from '@tidemill/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { TemporaryRepository } from './cli-repository.ts';

/** Prints what it was started with, so that its log shows its prompt. */
const AGENT = `#!/bin/sh
brief=$(cat)
printf 'BRIEF %s\\n' "$brief"
case "$brief" in
*'"mode":"review"'*) echo '{"tidemill":"result","outcome":"approved","review":{"criteria":[{"id":"C1","met":true,"evidence":"the gate test"}]}}' ;;
*) echo "made by an agent" > result.txt; echo '{"tidemill":"result","outcome":"pr_ready","summary":"wrote it"}' ;;
esac
`;
const CONFIG = `target: main
pipeline: watched
hilConfig: major_only
agents:
  default: { type: command, command: [sh, agent.sh] }
gates:
  - { name: test, run: "test -f agent.sh" }
`;
const PIPELINE = `name: watched
start: write
stages:
  write: { actor: agent, mode: implement, on: { pr_ready: check, no_changes: blocked } }
  check: { actor: system, does: verify, on: { approved: look, failed: write } }
  look: { actor: human, on: { approved: judge, changes_requested: write } }
  judge: { actor: agent, mode: review, on: { approved: land, changes_requested: write } }
  land: { actor: system, does: merge, on: { approved: done, failed: write, conflicts_detected: write } }
`;

/** A small limit, so that something is cut. */
const REVIEW =
  '---\nprompt_tokens: 2000\n---\nReview {taskTitle}.\n{gatesSection}\n{diffSection}\n{conventionsSection}\n';

let machine: TidemillHome;
let repository: TemporaryRepository;
let root: string;

beforeAll(async () => {
  machine = new TidemillHome();
  repository = new TemporaryRepository({
    'agent.sh': AGENT,
    'AGENTS.md': `Write files in lower case.\n${'And so on. '.repeat(800)}\n`,
    'README.md': '# A mill\n',
    '.tidemill/config.yaml': CONFIG,
    '.tidemill/pipelines/watched.yaml': PIPELINE,
    '.tidemill/agents/review.md': REVIEW,
  });
  root = repository.root;
  await machine.run(['task', 'add', 'Write a file', '--accept', 'There is a file'], root);
});
afterAll(async () => {
  await machine.close();
  repository.remove();
});

async function promptOf(run: string): Promise<string> {
  const { stdout } = await machine.run(['logs', run], root);
  const line = stdout.split('\n').find((each) => each.startsWith('BRIEF '))!;
  return (JSON.parse(line.slice('BRIEF '.length)) as { prompt: string }).prompt;
}

const worktrees = () =>
  readdirSync(join(machine.data, 'projects'), { recursive: true })
    .map(String)
    .filter((name) => /worktrees\//.test(name));

test('the prompt command prints the agent’s prompt before and during its work, with change and gates for a reviewer', async () => {
  const asked = await machine.run(['prompt', '1', 'implement'], root);
  expect(asked).toMatchObject({ code: 0, stderr: '' });
  expect(asked.stdout).toContain('# Implement task #1: Write a file');
  expect(asked.stdout).toContain('Write files in lower case.');
  expect(asked.stdout).toMatch(/dependency.*: \*\*a person decides\.\*\*/);
  expect((await machine.run(['prompt', '1', 'review'], root)).code).toBe(0);
  expect(existsSync(join(machine.data, 'projects')) ? worktrees() : []).toEqual([]);
  expect(repository.git('branch', '--list', 'task/*')).toBe('');

  expect((await machine.run(['up', '--until-idle'], root)).code).toBe(1);
  const { runs } = await machine.json<TaskDetail>(['task', 'show', '1'], root);
  expect(await promptOf(runs[0]!.id)).toBe(asked.stdout);
  expect(runs[0]!.briefing).toEqual({ promptTokens: Math.ceil(asked.stdout.length / 4), dropped: [], lessons: [] });

  const review = await machine.json<PromptView>(['prompt', '1', 'review'], root);
  const cut = expect.stringMatching(/^AGENTS\.md: [\d,]+ of 8,8\d\d characters left out$/);
  expect(review).toMatchObject({ number: 1, mode: 'review', model: null, tools: null, dropped: [cut] });
  expect((await machine.run(['prompt', '1', 'review'], root)).stderr).toContain(`the prompt: ${review.dropped[0]}`);
  expect(review.prompt).toContain('+made by an agent');
  expect(review.prompt).toContain('test: pass (test -f agent.sh)');
  await machine.run(['task', 'approve', '1'], root);
  expect((await machine.run(['up', '--until-idle'], root)).code).toBe(0);
  const after = await machine.json<TaskDetail>(['task', 'show', '1'], root);
  expect(after.task.stage).toBe('done');
  expect(await promptOf(after.runs.at(-1)!.id)).toBe(review.prompt);
  expect(after.runs.at(-1)!.briefing!.dropped).toEqual(review.dropped);
  expect((await machine.run(['task', 'show', '1'], root)).stdout).toContain(`prompt: ${review.dropped[0]}`);
}, 120_000);

test('the prompt command no longer shows a landed change, and names an unknown mode or task', async () => {
  const landed = await machine.run(['prompt', '1', 'review'], root);
  expect(landed).toMatchObject({ code: 2, stdout: '' });
  expect(landed.stderr).toContain('there is no change to review');
  const mode = await machine.run(['prompt', '1', 'reveiw'], root);
  expect(mode.code).toBe(2);
  expect(mode.stderr).toContain('there is no mode "reveiw"');
  expect(mode.stderr).toContain('Did you mean review? The modes are plan, plan_revision,');
  const task = await machine.run(['prompt', '99', 'plan', '--json'], root);
  expect(task.code).toBe(2);
  expect(JSON.parse(task.stderr)).toMatchObject({ error: { code: 'not_found' } });
}, 60_000);

test('the prompt command prints the same through a daemon, and uses the built-in one in place of one with a mistake, which it names', async () => {
  const { stdout } = await machine.run(['prompt', '1', 'plan'], root);
  const daemon = await machine.up(root);
  expect((await machine.run(['prompt', '1', 'plan'], root)).stdout).toBe(stdout);
  repository.write({ '.tidemill/agents/plan.md': '---\nmodel: large\nturn: 5\n---\nPlan {taskTitle}.\n' });
  const wrong = await machine.run(['prompt', '1', 'plan'], root);
  expect(wrong).toMatchObject({ code: 0, stdout });
  expect(wrong.stderr).toBe(
    'tidemill: the prompt: .tidemill/agents/plan.md:3: unknown key "turn"; did you mean "turns"?; the built-in prompt was used\n',
  );
  repository.write({ '.tidemill/agents/plan.md': '---\nprompt_tokens: 1000\n---\nPlan {planSection}{taskTitle}.\n' });
  expect((await machine.run(['prompt', '1', 'plan'], root)).stdout).toMatch(/^## Task context/);
  await machine.run(['stop'], root);
  await daemon.ended;
}, 60_000);
