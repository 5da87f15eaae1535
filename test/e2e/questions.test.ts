import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Feedback, QuestionView, TaskDetail, TaskSummary } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { TemporaryRepository } from './cli-repository.ts';

const MINUTE = 60_000;

/** An agent that keeps its brief, and asks before it builds. */
const AGENT = `import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
const brief = JSON.parse(readFileSync(0, 'utf8'));
const { number, title } = brief.task;
appendFileSync(process.env.BRIEFS, JSON.stringify(brief) + '\\n');
const print = (message) => console.log(JSON.stringify(message));
const knows = brief.prompt.includes('Answer: Postgres');
const question = { id: 'database', text: 'Which database?', options: ['Postgres', { label: 'SQLite', recommended: true }], context: 'Both fit.' };
if (title.includes('asks') && !knows) {
  print({ tidemill: 'result', outcome: 'needs_info', summary: 'cannot choose', open_questions: [question] });
} else {
  if (title.includes('passing'))
    print({ tidemill: 'question', text: 'Tabs or spaces?', type: 'clarifying', default: 'Spaces' });
  const depends = title.includes('depends') && !brief.feedback.some(({ text }) => text.includes('without'));
  if (depends) writeFileSync('package.json', '{"dependencies":{"left-pad":"1"}}');
  else if (title.includes('depends')) writeFileSync('package.json', '{}');
  writeFileSync('work-' + number + '.txt', knows ? 'Postgres' : 'as usual');
  print({ tidemill: 'result', outcome: 'pr_ready', summary: 'built ' + title });
}
`;
const config = (briefs: string, more = '') => `target: main
pipeline: quick
agents:
  default: { type: command, command: [node, agent.mjs], env: { BRIEFS: ${JSON.stringify(briefs)} }, writable: [${JSON.stringify(join(briefs, '..'))}] }
gates:
  - { name: test, run: "true" }
${more}`;

let machine: TidemillHome;
let repository: TemporaryRepository;
let root: string;
let briefs: string;

beforeEach(() => {
  machine = new TidemillHome();
  briefs = join(machine.folder, 'home', 'briefs.jsonl');
  repository = new TemporaryRepository({ 'agent.mjs': AGENT, 'package.json': '{}\n' });
  root = repository.root;
  repository.write({ '.tidemill/config.yaml': config(briefs) });
});
afterEach(async () => {
  await machine.close();
  repository.remove();
});

const add = (...args: string[]) => machine.json<TaskSummary>(['task', 'add', ...args], root);
const shown = (number: number) => machine.json<TaskDetail>(['task', 'show', String(number)], root);
const asked = (...args: string[]) => machine.json<QuestionView[]>(['questions', ...args], root);

const moved = (taskId: string, to: string) =>
  machine.event('task.moved', (body) => body.taskId === taskId && body.to === to);
const parked = (taskId: string) => machine.event('task.parked', (body) => body.taskId === taskId);

describe('a blocking question', () => {
  test('parks its task, survives a restart of the daemon, and its answer is in the next run', {
    timeout: 3 * MINUTE,
  }, async () => {
    const first = await machine.up(root);
    const waits = await add('One that asks');
    await parked(waits.id);
    const other = await add('Another one');
    await moved(other.id, 'done');
    expect((await shown(1)).task).toMatchObject({ stage: 'needs_info', resumeStage: 'implement', lease: null });

    first.child.kill('SIGKILL');
    await first.ended;
    expect(await asked('--task', '1')).toMatchObject([
      {
        ref: 'Q1.1',
        type: 'blocking',
        holds: true,
        task: { number: 1 },
        defaultAnswer: 'SQLite',
        agent: 'command node',
      },
    ]);
    const status = await machine.run(['status'], root);
    expect(status.stdout).toContain('Which database?');
    expect(status.stdout).toContain('tidemill answer Q1.1');

    await machine.up(root);
    expect(await asked('--task', '1')).toHaveLength(1);
    expect(await machine.json<QuestionView>(['answer', 'database', '--option', '1'], root)).toMatchObject({
      status: 'answered',
      answer: { text: 'Postgres', option: 'Postgres', source: 'user' },
    });
    await moved(waits.id, 'done');
    expect(readFileSync(join(root, 'work-1.txt'), 'utf8')).toBe('Postgres');
    const prompts = readFileSync(briefs, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { prompt: string });
    expect(prompts.at(-1)?.prompt).toContain('Asked (your id: database): Which database?\nAnswer: Postgres');
    expect((await shown(1)).task.context).toMatchObject([
      { source: 'agent', summary: 'cannot choose' },
      { source: 'person', entryType: 'answer' },
      { source: 'agent', said: 'built One that asks' },
    ]);

    const again = await machine.run(['answer', 'Q1.1', 'SQLite'], root);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('has already answered that: "Postgres"') });
    expect(await asked('--task', '1')).toEqual([]);
    expect(await asked('--task', '1', '--all')).toMatchObject([{ ref: 'Q1.1', status: 'answered' }]);
  });

  test('refuses an empty answer, an unknown option, an unknown name', { timeout: 2 * MINUTE }, async () => {
    await machine.up(root);
    const task = await add('One that asks');
    await parked(task.id);
    const fails = async (...args: string[]) => (await machine.run(['answer', ...args], root)).stderr;
    expect(await fails('Q1.1', ' ')).toContain('the answer is empty');
    expect(await fails('Q1.1', '--option', '3')).toContain('The options are 1 Postgres, 2 SQLite.');
    expect(await fails('Q1.1', 'x', '--default')).toContain('give exactly one of');
    expect(await fails('Q1.1')).toContain('no answer was given');
    expect(await fails()).toContain('no question was named');
    expect(await fails('Q9.9', 'x')).toContain('there is no question Q9.9');
    expect(await fails('Q1.1', 'x'.repeat(20_001))).toContain('at most 20000 characters');
    expect(await asked()).toHaveLength(1);
    expect((await machine.run(['answer', '#1', '--default'], root)).stdout).toContain('Q1.1 answered: SQLite');
  });
});

describe('a question that can wait', () => {
  test('lets work continue with its default, and takes the default on request', { timeout: 2 * MINUTE }, async () => {
    await machine.up(root);
    const task = await add('One with a question in passing');
    await moved(task.id, 'done');
    const open = await asked('--task', '1');
    expect(open).toMatchObject([{ ref: 'Q1.1', type: 'clarifying', holds: false, defaultAnswer: 'Spaces' }]);
    expect((await machine.run(['questions', 'show', 'Q1.1'], root)).stdout).toContain('default: Spaces');
    const defaults = await machine.run(['answer', '--all-defaults'], root);
    expect(defaults.stdout).toContain('Q1.1 answered: Spaces');
    expect(await asked('--task', '1')).toEqual([]);
  });
});

describe('an approval', () => {
  test('shows the change, survives a restart, and sends the task back or lets it continue', {
    timeout: 3 * MINUTE,
  }, async () => {
    const first = await machine.up(root);
    const task = await add('One that depends', '--autonomy', 'major_only');
    await parked(task.id);
    first.child.kill('SIGKILL');
    await first.ended;
    const question = await machine.run(['questions', 'show', 'Q1.1'], root);
    expect(question.stdout).toContain('changes dependencies');
    expect(question.stdout).toContain('+{"dependencies":{"left-pad":"1"}}');
    expect(question.stdout).toContain('tidemill task approve 1');

    await machine.up(root);
    await machine.json(['task', 'reject', '1', '--note', 'without left-pad'], root);
    await machine.event('question.asked', (body) => body.question.ref === 'Q1.2');
    expect((await shown(1)).task.stage).toBe('needs_info');
    await machine.json(['task', 'approve', '1'], root);
    await moved(task.id, 'done');
    expect(readFileSync(join(root, 'package.json'), 'utf8')).toBe('{}');
    expect((await shown(1)).task.approved).toEqual(['dependencyModifications']);
  });
});

const isHint = ({ kind, text }: Feedback) => kind === 'person' && text === 'Write hint.txt';

describe('the catalogue', () => {
  test('lists what is asked and what nothing raises yet; the project’s own entries override', {
    timeout: MINUTE,
  }, async () => {
    repository.write({ '.tidemill/questions/quiet.yaml': '- { trigger: validation_passed, enabled: false }\n' });
    const lines = await machine.json<{ trigger: string; state: string; since: string | null }[]>(
      ['questions', 'catalogue'],
      root,
    );
    const stateOf = (trigger: string) => lines.find((line) => line.trigger === trigger);
    expect(stateOf('validation_passed')).toMatchObject({ state: 'off' });
    expect(stateOf('task_failed_repeatedly')).toMatchObject({ state: 'asked' });
    expect(stateOf('idea_created')).toMatchObject({ state: 'asked', since: null });
    expect(stateOf('pattern_detected')).toMatchObject({ state: 'asked', since: null });
    expect(stateOf('usability_concern')).toMatchObject({ state: 'not built', since: 'ux' });
  });

  test('asks about a task that failed permanently, and the answer restarts it', { timeout: 2 * MINUTE }, async () => {
    const failing = "  - { name: lint, run: 'test -f hint.txt || ! ls work-*.txt' }\n";
    repository.write({ '.tidemill/config.yaml': config(briefs, failing) });
    await machine.up(root);
    const task = await add('One that fails');
    await machine.event('question.asked', (body) => body.question.source === 'catalogue');
    expect(await asked()).toMatchObject([
      { ref: 'Q1.1', effect: { kind: 'unblock' }, tags: ['task_failed_repeatedly'] },
    ]);
    expect((await shown(1)).task.stage).toBe('blocked');
    await machine.json(['answer', 'Q1.1', 'Write hint.txt'], root);
    await machine.event('task.moved', (body) => body.taskId === task.id && body.because === 'answered');
    await machine.event('task.feedback_given', (body) => body.feedback.some(isHint));
  });
});
