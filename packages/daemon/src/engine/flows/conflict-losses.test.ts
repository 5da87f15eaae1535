import { type MergeLoss, type Project, personActor, type Task } from '@tidemill/contract';
import { expect, test } from 'vitest';
import { settleConflict } from './conflict.ts';

const loss = (content: string): MergeLoss => ({
  ...{ path: `${content}.ts`, kind: 'deleted_file', detail: '', lines: [], lineCount: 0, content },
});

test('a resolution that drops lines of the target is refused, and only what nobody has accepted is named', async () => {
  const task = { id: 'task_1', projectId: 'project_1', number: 7, acceptedLosses: ['known'] } as unknown as Task;
  const conflicts = { settleMerge: async () => ({ kind: 'lossy', losses: [loss('known'), loss('fresh')] }) };
  const deps = { store: {}, project: { rules: { target: 'main' } } as Project, conflicts };
  const settled = settleConflict(deps as unknown as Parameters<typeof settleConflict>[0], task, personActor('ada'), []);
  await expect(settled).rejects.toMatchObject({
    message: expect.stringMatching(/^the resolution drops changes of main:\n(?![\s\S]*known\.ts)[\s\S]*fresh\.ts/),
    hint: expect.stringContaining('tidemill conflicts settle 7 --accept-losses'),
  });
});
