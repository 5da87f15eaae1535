import { AskedQuestion } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { OfflineBed } from '../../../../../test/support/offline-bed.ts';
import { openFolderStore } from '../../assembly/store-address.ts';
import { openDataFolder } from '../../config/data-folder.ts';
import type { Store } from '../../ports.ts';

let bed: OfflineBed;
let store: Store;
let project: string;

beforeEach(async () => {
  bed = await OfflineBed.open();
  project = bed.project;
  store = (await openFolderStore(openDataFolder(bed.env), bed.env)).store;
});
afterEach(async () => {
  await store.close();
  await bed.close();
});

async function must(command: Command): Promise<void> {
  expect(await store.execute(command)).toMatchObject({ ok: true });
}
const alert = (kind: string, severity: 'info' | 'error') =>
  must({ type: 'alert.raise', projectId: project, taskId: null, kind, severity, text: `${kind} happened` });
const ask = (text: string, type: 'blocking' | 'clarifying') =>
  must({
    type: 'question.ask',
    projectId: project,
    taskId: null,
    stage: 'open',
    agent: 'engine',
    source: 'engine',
    sourceId: 'x',
    questions: [AskedQuestion.parse({ text, type })],
  });

test('items that block work come first, then the more severe, then the older', async () => {
  expect(await bed.api.inbox({ project })).toEqual([]);
  await alert('small', 'info');
  await alert('large', 'error');
  await ask('Any wishes?', 'clarifying');
  await ask('Which one?', 'blocking');
  const items = await bed.api.inbox({ project });
  expect(items.map(({ title }) => title)).toEqual(['Which one?', 'large', 'Any wishes?', 'small']);
  expect(items[0]).toMatchObject({ kind: 'question', isBlocking: true, ref: 'Q2' });
  expect(items[1]).toMatchObject({ kind: 'alert', severity: 'error', command: `tidemill inbox ack ${items[1]!.ref}` });
});

test('an alert is acknowledged by the name the inbox shows, once; a question is answered instead', async () => {
  await alert('small', 'info');
  await alert('large', 'error');
  await ask('Which one?', 'blocking');
  const { ref } = (await bed.api.inbox({ project })).find(({ title }) => title === 'large')!;
  expect(await bed.api.acknowledge({ project, ref })).toEqual({ acknowledged: 1 });
  await expect(bed.api.acknowledge({ project, ref })).rejects.toMatchObject({ code: 'not_found' });
  await expect(bed.api.acknowledge({ project, ref: 'Q1' })).rejects.toMatchObject({
    hint: expect.stringContaining('tidemill answer Q1'),
  });
  expect(await bed.api.acknowledge({ project })).toEqual({ acknowledged: 1 });
  expect(await bed.api.inbox({ project })).toMatchObject([{ title: 'Which one?' }]);
});

test('a project without channels has none to show', async () => {
  expect(await bed.api.channels({ project })).toEqual([]);
  await expect(bed.api.testChannel({ project, channel: 'phone' })).rejects.toMatchObject({ code: 'not_found' });
});
