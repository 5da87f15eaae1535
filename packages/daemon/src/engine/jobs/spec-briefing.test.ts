import { type Job, personActor } from '@tidemill/contract';
import { afterEach, expect, test } from 'vitest';
import { EngineBed } from '../../../../../test/support/engine-bed.ts';
import type { EngineDeps } from '../deps.ts';
import { draftingBriefing } from './spec-briefing.ts';

let bed: EngineBed;
afterEach(() => bed.close());

test('who writes a specification is told the next free migration, after those of tasks that have not landed', async () => {
  bed = await EngineBed.open({}, () => ({}));
  await bed.add(1, { files: ['db/migrations/005_harbours.sql'] });
  const files = ['db/migrations/004_tides.sql', 'src/a.ts'].map((file) => [file, 'x'] as const);
  const workspace = { targetCommit: async () => 'c', filesAt: async () => files };
  const deps = { store: bed.store, project: { id: bed.projectId }, workspace } as unknown as EngineDeps;
  const { knowledgeSection } = await draftingBriefing(deps, { subjectId: 'spec_1' } as Job);
  expect(knowledgeSection).toBe('## The next free number of a migration\n\n- `db/migrations`: 006\n');
});

test.each([
  ['mvp', 'The smallest version that someone can use.'],
  ['full', 'Everything that belongs to the request'],
] as const)('who writes a specification is told that a person wants it %s', async (targetComplexity, told) => {
  bed = await EngineBed.open({}, () => ({}));
  const { projectId } = bed;
  const source = { kind: 'text', ideaId: null, text: 'Tides', targetComplexity } as const;
  await bed.must({ type: 'spec.request', projectId, specId: 'spec_1', title: 'Tides', source, by: personActor('ada') });
  const workspace = { targetCommit: async () => 'c', filesAt: async () => [] };
  const deps = { store: bed.store, project: { id: projectId }, workspace } as unknown as EngineDeps;
  const { sizeSection } = await draftingBriefing(deps, { subjectId: 'spec_1' } as Job);
  expect(sizeSection).toContain(told);
});
