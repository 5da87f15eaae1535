import { personActor } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { replay } from '../../../../test/support/command-world.ts';
import { Mill } from '../../../../test/support/mill.ts';

const projectId = 'project_1';
const at = (stage: string, fields: Parameters<Mill['add']>[0] = {}) => {
  const mill = new Mill();
  const id = mill.add({ pipeline: 'feature', ...fields });
  mill.bring(id, stage);
  return { mill, id, of: { projectId, taskId: id, by: personActor('ada') } };
};

describe('an edit', () => {
  test('changes what it names and nothing else, and the log alone leads to the same', () => {
    const { mill, id, of } = at('implement', { body: 'old', files: ['src/'], priority: 3 });
    const before = mill.task(id);
    const title = `<script>alert(1)</script>\u0000\u001b[31m${'é'.repeat(200)}`;
    expect(mill.must({ type: 'task.edit', ...of, title, priority: 0 })).toEqual([
      { type: 'task.edited', taskId: id, by: personActor('ada'), title, priority: 0 },
    ]);
    mill.must({ type: 'task.edit', ...of, body: 'new', files: [] });
    expect(mill.task(id)).toEqual({ ...before, title, priority: 0, body: 'new', files: [] });
    expect(replay(mill.log).tasks).toEqual([mill.task(id)]);
    expect(mill.must({ type: 'task.edit', ...of, body: 'new', files: [], accept: ['it works'] })).toEqual([]);
  });

  test('only a person changes the command that a person approved as the gate of the task', () => {
    const { mill, id, of } = at('implement', { validate: 'npm run parts' });
    const agent = { kind: 'agent', id: 'run_1', name: 'agent-1' } as const;
    expect(mill.refusal({ type: 'task.edit', ...of, by: agent, validate: 'true' })).toBe('forbidden');
    mill.must({ type: 'task.edit', ...of, by: agent, body: 'other words' });
    expect(mill.task(id).validate).toBe('npm run parts');
    mill.must({ type: 'task.edit', ...of, validate: 'npm run all' });
    expect(mill.task(id).validate).toBe('npm run all');
  });

  test('keeps the verdict of a criterion with unchanged text; the others start unjudged', () => {
    const { mill, id, of } = at('review', { accept: ['a', 'b', 'c'] });
    mill.review(id, true);
    mill.must({ type: 'task.edit', ...of, accept: ['c', 'b, but better', 'a'] });
    expect(mill.task(id).criteria).toMatchObject([
      { id: 'C3', text: 'c', met: true },
      { id: 'C2', text: 'b, but better', met: null },
      { id: 'C1', text: 'a', met: true },
    ]);
  });

  test('gives no criterion an id that a running review knows with another text', () => {
    const { mill, id, of } = at('review', { accept: ['a', 'b'] });
    const { fence, runId } = mill.startRun(id);
    mill.must({ type: 'task.edit', ...of, accept: ['a', 'new'] });
    expect(mill.task(id).criteria.map((criterion) => criterion.id)).toEqual(['C1', 'C3']);
    const criteria = ['C1', 'C2'].map((each) => ({ id: each, met: true, evidence: 'test' }));
    const envelope = { outcome: 'approved', summary: '', review: { criteria, comments: [] } } as const;
    const usage = { inputTokens: 0, outputTokens: 0, costUsd: null, requests: 0 };
    mill.must({ type: 'run.finish', ...fence, runId, outcome: 'approved', envelope: envelope as never, usage });
    expect(mill.task(id).stage).toBe('review');
  });

  test('of the body adds its new criteria and removes those it no longer has', () => {
    const { mill, id, of } = at('open', { accept: ['given'], body: '- [ ] one\n- [ ] two\nAC-7: three' });
    const texts = () => mill.task(id).criteria.map((criterion) => [criterion.id, criterion.text]);
    mill.must({ type: 'task.edit', ...of, body: '- [ ] two\nAC-7: three\nAC-8: four' });
    expect(texts()).toEqual([
      ['C1', 'given'],
      ['C3', 'two'],
      ['AC-7', 'three'],
      ['AC-8', 'four'],
    ]);
    // A list is complete: a removed criterion does not come back with the next change of the body.
    mill.must({ type: 'task.edit', ...of, accept: ['two'] });
    mill.must({ type: 'task.edit', ...of, body: '- [ ] two\nAC-7: three\nAC-8: four\n\nMore words.' });
    expect(texts()).toEqual([['C3', 'two']]);
  });

  test.each(['done', 'cancelled'])('of a task that is %s is refused', (stage) => {
    const { mill, of } = at(stage === 'done' ? 'done' : 'open');
    if (stage === 'cancelled') mill.must({ type: 'task.cancel', ...of });
    expect(mill.refusal({ type: 'task.edit', ...of, title: 'x' })).toBe('wrong_stage');
    expect(mill.refusal({ type: 'task.edit', ...of, taskId: 'task_9', title: 'x' })).toBe('not_found');
  });
});

test('a note is kept with its author, also while an agent works; a task that is done refuses it', () => {
  const { mill, id, of } = at('implement');
  mill.startRun(id);
  mill.must({ type: 'task.note', ...of, text: 'mind the tests' });
  expect(mill.task(id).context.at(-1)).toEqual({
    runId: null,
    source: 'person',
    entryType: 'note',
    summary: 'mind the tests',
    at: mill.now,
    by: personActor('ada'),
  });
  const done = at('done');
  expect(done.mill.refusal({ type: 'task.note', ...done.of, text: 'x' })).toBe('wrong_stage');
});
