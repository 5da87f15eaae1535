import type { Job } from '@tidemill/contract';
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
