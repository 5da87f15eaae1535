import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Api, AskedQuestion } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { QUIET_CONFIG, TemporaryRepository } from '../../../../test/e2e/cli-repository.ts';
import { createIds, systemClock } from '../clock.ts';
import { openDataFolder } from '../config/data-folder.ts';
import { openOffline } from '../daemon/offline.ts';
import type { Store } from '../ports.ts';
import { openStore } from '../store/open.ts';

let home: string;
let repository: TemporaryRepository;
let offline: { api: Api; close(): Promise<void> };
let store: Store;
let project: string;

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'tidemill-inbox-'));
  repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
  offline = await openOffline({ TIDEMILL_HOME: home });
  project = (await offline.api.registerProject({ root: repository.root })).id;
  const url = openDataFolder({ TIDEMILL_HOME: home }).storeFile;
  store = await openStore({ url, clock: systemClock, ids: createIds(systemClock) });
});
afterEach(async () => {
  await store.close();
  await offline.close();
  repository.remove();
  rmSync(home, { recursive: true });
});

async function must(command: Command): Promise<void> {
  expect(await store.execute(command)).toMatchObject({ ok: true });
}
const alert = (kind: string, severity: 'info' | 'error') =>
  must({ type: 'alert.raise', projectId: project, taskId: null, kind, severity, text: `${kind} happened` });
const ask = (text: string, type: 'blocking' | 'clarifying') =>
  must({
    ...{ type: 'question.ask', projectId: project, taskId: null, stage: 'open', agent: 'engine' },
    ...{ source: 'engine', sourceId: 'x', questions: [AskedQuestion.parse({ text, type })] },
  });

test('what holds work up comes first, then the more severe, then the older', async () => {
  expect(await offline.api.inbox({ project })).toEqual([]);
  await alert('small', 'info');
  await alert('large', 'error');
  await ask('Any wishes?', 'clarifying');
  await ask('Which one?', 'blocking');
  const items = await offline.api.inbox({ project });
  expect(items.map(({ title }) => title)).toEqual(['Which one?', 'large', 'Any wishes?', 'small']);
  expect(items[0]).toMatchObject({ kind: 'question', isBlocking: true, ref: 'Q2' });
  expect(items[1]).toMatchObject({ kind: 'alert', severity: 'error', command: `tidemill inbox ack ${items[1]!.ref}` });
});

test('an alert is acknowledged by the name the inbox shows, once; a question is answered instead', async () => {
  await alert('small', 'info');
  await alert('large', 'error');
  await ask('Which one?', 'blocking');
  const { ref } = (await offline.api.inbox({ project })).find(({ title }) => title === 'large')!;
  expect(await offline.api.acknowledge({ project, ref })).toEqual({ acknowledged: 1 });
  await expect(offline.api.acknowledge({ project, ref })).rejects.toMatchObject({ code: 'not_found' });
  await expect(offline.api.acknowledge({ project, ref: 'Q1' })).rejects.toMatchObject({
    hint: expect.stringContaining('tidemill answer Q1'),
  });
  expect(await offline.api.acknowledge({ project })).toEqual({ acknowledged: 1 });
  expect(await offline.api.inbox({ project })).toMatchObject([{ title: 'Which one?' }]);
});

test('a project without channels has none to show', async () => {
  expect(await offline.api.channels({ project })).toEqual([]);
  await expect(offline.api.testChannel({ project, channel: 'phone' })).rejects.toMatchObject({ code: 'not_found' });
});
