import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { QuestionView } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { QuestionBed } from '../support/question-bed.ts';
import type { RunningDaemon } from '../support/tidemill-home.ts';

const MINUTE = 60_000;
const bed = new QuestionBed();
const { machine, repository, root, briefs, add, shown, asked, moved, parked } = bed;
let daemon: RunningDaemon;
beforeAll(async () => {
  daemon = await machine.up(root);
}, MINUTE);
afterAll(() => bed.close());

describe('a blocking question', () => {
  test('parks its task, survives a restart of the daemon, and its answer is in the next run', {
    timeout: 3 * MINUTE,
  }, async () => {
    const waits = await add('One that asks');
    await parked(waits.id);
    const other = await add('Another one');
    await moved(other.id, 'done');
    expect((await shown(1)).task).toMatchObject({ stage: 'needs_info', resumeStage: 'implement', lease: null });

    daemon.child.kill('SIGKILL');
    await daemon.ended;
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
    const task = await add('One that asks');
    await parked(task.id);
    const ref = `Q${task.number}.1`;
    const fails = async (...args: string[]) => (await machine.run(['answer', ...args], root)).stderr;
    expect(await fails(ref, ' ')).toContain('the answer is empty');
    expect(await fails(ref, '--option', '3')).toContain('The options are 1 Postgres, 2 SQLite.');
    expect(await fails(ref, 'x', '--default')).toContain('give exactly one of');
    expect(await fails(ref)).toContain('no answer was given');
    expect(await fails()).toContain('no question was named');
    expect(await fails('Q9.9', 'x')).toContain('there is no question Q9.9');
    expect(await fails(ref, 'x'.repeat(20_001))).toContain('at most 20000 characters');
    expect(await asked('--task', String(task.number))).toHaveLength(1);
    expect((await machine.run(['answer', `#${task.number}`, '--default'], root)).stdout).toContain(
      `${ref} answered: SQLite`,
    );
    // It would ask again, since it wants another answer.
    await machine.json(['task', 'cancel', String(task.number)], root);
  });
});

describe('a question that can wait', () => {
  test('lets work continue with its default, and takes the default on request', { timeout: 2 * MINUTE }, async () => {
    const task = await add('One with a question in passing');
    await moved(task.id, 'done');
    const ref = `Q${task.number}.1`;
    const open = await asked('--task', String(task.number));
    expect(open).toMatchObject([{ ref, type: 'clarifying', holds: false, defaultAnswer: 'Spaces' }]);
    expect((await machine.run(['questions', 'show', ref], root)).stdout).toContain('default: Spaces');
    const defaults = await machine.run(['answer', '--all-defaults'], root);
    expect(defaults.stdout).toContain(`${ref} answered: Spaces`);
    expect(await asked('--task', String(task.number))).toEqual([]);
  });
});

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
});
