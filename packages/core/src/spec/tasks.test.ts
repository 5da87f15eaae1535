import { NewTask, type Spec, type SpecDraft } from '@tidemill/contract';
import { expect, test } from 'vitest';
import { followUps } from './tasks.ts';

test('a requirement that is not met becomes a task whose title fits, however long its line is', () => {
  const verdicts = [
    { requirement: 'R1', met: true, evidence: '' },
    { requirement: 'R2', met: false, evidence: 'no code' },
  ];
  const spec = { id: 'spec_1', projectId: 'project_1', number: 1, title: 'Tides', tasks: [], verdicts };
  const draft = { requirements: [{ id: 'R2', text: `${'long '.repeat(100)}\nsecond line` }] };
  const { links, commands } = followUps(spec as unknown as Spec, draft as unknown as SpecDraft, '', () => 'task_9');
  expect(links).toMatchObject([{ key: 'F1', taskId: 'task_9', requirements: ['R2'] }]);
  expect(commands[0]!.title).toMatch(/^Meet R2: long long/);
  expect(NewTask.shape.title.safeParse(commands[0]!.title.trim()).success).toBe(true);
});
