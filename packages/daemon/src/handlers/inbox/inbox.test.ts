import { type AlertKind, AskedQuestion } from '@tidemill/contract';
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
  must({
    type: 'alert.raise',
    projectId: project,
    taskId: null,
    kind: kind as AlertKind,
    severity,
    text: `${kind} happened`,
  });
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

test('inbox items that block work come first, then the more severe, then the older', async () => {
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

test('a question about a task does not name the task a second time', async () => {
  const { id: taskId } = await bed.api.addTask({ project, title: 'Sell bread' });
  const text = '#1 Sell bread: gate test failed.';
  const questions = [AskedQuestion.parse({ text, type: 'clarifying' })];
  const by = { agent: 'engine', source: 'engine', sourceId: 'x' } as const;
  await must({ type: 'question.ask', projectId: project, taskId, stage: 'open', ...by, questions });
  const [item] = await bed.api.inbox({ project });
  expect(item).toMatchObject({ title: 'gate test failed.', task: { number: 1, title: 'Sell bread' } });
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

test('a project without channels has no channels to show', async () => {
  expect(await bed.api.channels({ project })).toEqual([]);
  await expect(bed.api.testChannel({ project, channel: 'phone' })).rejects.toMatchObject({ code: 'not_found' });
});

test('an alert about a stuck task names it, and restarts its worker', async () => {
  const { number, id: taskId } = await bed.api.addTask({ project, title: 'Slow' });
  const worker = { projectId: project, workerId: `${project}/agent-1`, name: 'agent-1', role: 'builder' } as const;
  await must({ type: 'worker.register', ...worker });
  await must({
    type: 'work.claim',
    projectId: project,
    workerId: worker.workerId,
    role: 'builder',
    owner: 'd',
    window: 9,
  });
  const about = { projectId: project, taskId, subject: `#${number}`, kind: 'stuck', text: 'no progress' } as const;
  await must({ type: 'alert.raise', ...about });
  const [item] = await bed.api.inbox({ project });
  expect(item).toMatchObject({
    task: { number, title: 'Slow' },
    actions: [{ id: 'restart', label: 'Restart the worker' }],
    command: `tidemill inbox do ${item!.ref} restart`,
  });
  await expect(bed.api.actOnAlert({ project, ref: item!.ref, action: 'jump' })).rejects.toMatchObject({
    code: 'bad_input',
    hint: 'Use restart (Restart the worker).',
  });
  const { done } = await bed.api.actOnAlert({ project, ref: item!.ref, action: 'restart' });
  expect(done).toBe(`agent-1 was restarted. #${number} continues; its work is kept.`);
  expect((await store.task(taskId))?.lease).toBeNull();
  await expect(bed.api.actOnAlert({ project, ref: item!.ref, action: 'restart' })).rejects.toMatchObject({
    code: 'conflict',
  });
});

test('a red target gets its repair task by one action, once', async () => {
  const known = (await store.project(project))!;
  await must({
    type: 'project.configure',
    projectId: project,
    rules: { ...known.rules, gates: ['integrity', 'lint', 'test'] },
  });
  const about = { projectId: project, taskId: null, kind: 'baseline_red', subject: 'lint, test, gone' } as const;
  await must({ type: 'alert.raise', ...about, text: 'main itself fails lint, test' });
  const [item] = await bed.api.inbox({ project });
  await bed.api.actOnAlert({ project, ref: item!.ref, action: 'repair' });
  const [task] = await bed.api.tasks({ project });
  expect(task).toMatchObject({ title: 'Repair main: lint, test', priority: 0 });
  expect((await store.task(task!.id))?.repairs).toEqual(['lint', 'test']);
  await expect(bed.api.actOnAlert({ project, ref: item!.ref, action: 'repair' })).rejects.toThrow(
    `#${task!.number} repairs this already`,
  );
});

test('tasks behind a cancelled one go on without it, are cancelled, or it starts again', async () => {
  const first = await bed.api.addTask({ project, title: 'Schema' });
  const second = await bed.api.addTask({ project, title: 'Use it', after: [first.number] });
  await bed.api.cancelTask({ project, task: first.number });
  const about = {
    projectId: project,
    taskId: first.id,
    kind: 'dependency_cancelled',
    subject: `#${first.number}`,
  } as const;
  await must({ type: 'alert.raise', ...about, text: 'x' });
  const [item] = await bed.api.inbox({ project });
  expect(item!.actions.map(({ id }) => id)).toEqual(['retry', 'drop', 'cancel']);
  const act = (action: string) => bed.api.actOnAlert({ project, ref: item!.ref, action });
  expect((await act('drop')).done).toBe(`#${second.number} no longer waits for #${first.number}.`);
  expect((await store.task(second.id))?.unmet).toBe(0);
  await expect(act('cancel')).rejects.toMatchObject({ code: 'conflict' });
  await bed.api.setDependencies({ project, task: second.number, after: [first.number] });
  expect((await act('cancel')).done).toBe(`#${second.number} was cancelled.`);
  expect((await act('retry')).done).toBe(`#${first.number} was started again.`);
});
