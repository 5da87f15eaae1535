import { type Spec, SpecDraft } from '@tidemill/contract';
import { expect, test } from 'vitest';
import type { EngineDeps } from '../deps.ts';
import { reflectionOnSpec } from './reflect-on-spec.ts';

const draft = SpecDraft.parse({
  title: 'Parts',
  summary: 'Harbour masters mend parts.',
  architecture: 'One file for each part.',
  requirements: [{ id: 'R1', text: 'Parts can be mended' }],
  tasks: [{ id: 'T1', title: 'Mend part 1', phase: 'api', requirements: ['R1'] }],
});
const spec = { id: 'spec_1', number: 1, title: 'Parts', version: 1, approved: { version: 1 } } as unknown as Spec;
const run = (validationRetries: number) => ({
  ...{ mode: 'implement', outcome: 'pr_ready', failure: null, validationRetries, startedAt: 1 },
  ...{ summary: 'The gate wanted a newline.', usage: { inputTokens: 9, outputTokens: 1 } },
});
/** Two landed tasks; the gates sent the second one back so often. */
const deps = (retries: number) => {
  const task = (number: number) => ({
    ...{ id: `task_${number}`, number, title: `Mend part ${number}`, stage: 'done', landedCommit: 'c', createdAt: 1 },
    ...{ stageSince: 2, files: [`part-${number}.txt`], origin: { kind: 'spec', id: 'spec_1', requirements: ['R1'] } },
  });
  const store = {
    tasks: async () => [task(1), task(2)],
    runs: async (id: string) => [run(id === 'task_2' ? retries : 0)],
    records: async () => [],
    record: async () => ({ draft }),
  };
  return { store, project: { id: 'project_1' } } as unknown as EngineDeps;
};

test('a finished specification is looked at with what was planned and which tasks needed more than one try', async () => {
  const reflection = await reflectionOnSpec(deps(2), spec);
  expect(reflection).toMatchObject({
    why: '1 of 2 tasks did not land at the first try',
    files: ['part-2.txt'],
    metrics: { tasks: 2, firstPass: 1 },
  });
  for (const part of ['Harbour masters mend parts.', 'One file for each part.', '- #2 Mend part 2: done, 1 runs'])
    expect(reflection?.facts).toContain(part);
  expect(reflection?.facts).toContain('The gate wanted a newline.');
  expect(reflection?.facts).not.toContain('#1 Mend part 1');
});

test('a specification whose tasks all landed at the first try teaches nothing', async () => {
  expect(await reflectionOnSpec(deps(0), spec)).toBeNull();
});
