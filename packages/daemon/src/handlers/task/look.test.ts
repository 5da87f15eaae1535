import { type AlertKind, AskedQuestion, type LoggedEvent, type Pipeline } from '@tidemill/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DaemonBed } from '../../../../../test/support/daemon-bed.ts';

/** Shorter than any allowed in a file. */
const own: Pipeline = {
  name: 'own',
  description: '',
  start: 'land',
  stages: {
    land: {
      actor: 'system',
      does: 'merge',
      on: { approved: 'done', failed: 'consent', conflicts_detected: 'blocked' },
    },
    consent: { actor: 'human', onlyIfPlansAreReviewed: false, on: { approved: 'land', changes_requested: 'blocked' } },
  },
};

let bed: DaemonBed;
let project: string;
beforeAll(async () => {
  bed = await DaemonBed.open();
  project = bed.project;
  const { rules } = (await bed.store.project(project))!;
  const pipelines = { ...rules.pipelines, own };
  await bed.must({ type: 'project.configure', projectId: project, rules: { ...rules, pipelines } });
});
afterAll(() => bed.close());

const add = (title: string) => bed.api.addTask({ project, title, accept: ['x'], pipeline: 'own' });

test('the status counts the inbox items and reports conflicts, alerts and the budget', async () => {
  for (const title of ['In conflict', 'To be agreed to', 'Asks something as well']) await add(title);
  const feedback = [{ kind: 'conflict' as const, text: 'x', files: ['a.txt'] }];
  for (const outcome of ['conflicts_detected', 'failed', 'failed'] as const) {
    const task = await bed.claim('merger', 'merger');
    await bed.must({ type: 'stage.finish', ...bed.fence(task), outcome, feedback });
  }
  const severities = ['info', 'critical', 'warning', 'error', 'info', 'warning', 'info'] as const;
  for (const [index, severity] of severities.entries())
    await bed.must({
      type: 'alert.raise',
      projectId: project,
      taskId: null,
      kind: `kind_${index}` as AlertKind,
      severity,
      text: 'x',
    });
  const questions = [AskedQuestion.parse({ text: 'Which one?', type: 'clarifying' })];
  const { id: taskId } = (await bed.api.task({ project, task: 3 })).task;
  const asker = { stage: 'consent', agent: 'engine', source: 'engine', sourceId: 'x' } as const;
  await bed.must({ type: 'question.ask', projectId: project, taskId, questions, ...asker });

  const status = await bed.api.status({ project });
  const inbox = await bed.api.inbox({ project });
  expect(status.inbox).toBe(inbox.length);
  expect(status.inbox).toBe(severities.length + 3);
  expect(status.tasks).toEqual({ blocked: 1, consent: 2 });
  expect(status.conflicts).toBe(1);
  expect(status.alerts.map(({ severity }) => severity)).toEqual(['critical', 'error', 'warning', 'warning', 'info']);
  expect(status.budget).toEqual({
    project: (await bed.api.budget({})).find(({ projectId }) => projectId === project),
    all: (await bed.api.budget({})).at(-1),
  });
  expect(status.daemon?.version).toMatch(/^\d+\.\d+\.\d+(\+[0-9a-f]{12})?$/);
});

test('the newest events come first, page by page, unfiltered and by type, task and project', async () => {
  for (let count = 0; count < 12; count += 1) await add(`Task ${count}`);
  const all: LoggedEvent[] = [];
  for await (const event of bed.api.events({ project })) all.push(event);
  const seqs = (events: LoggedEvent[]) => events.map(({ seq }) => seq);
  const paged: LoggedEvent[] = [];
  for (let before: number | undefined; ; before = paged.at(-1)!.seq) {
    const page = await bed.api.recentEvents({ project, before, limit: 5 });
    paged.push(...page);
    if (page.length < 5) break;
  }
  expect(seqs(paged)).toEqual(seqs(all).reverse());
  const created = await bed.api.recentEvents({ project, types: ['task.created', 'alert.raised'], limit: 500 });
  expect(seqs(created)).toEqual(
    seqs(all.filter(({ body }) => body.type === 'task.created' || body.type === 'alert.raised')).reverse(),
  );
  const [newest] = await bed.api.recentEvents({ project, task: 5 });
  expect(newest!.body).toMatchObject({ type: 'task.created', number: 5 });
  expect(await bed.api.recentEvents({ project, before: 1 })).toEqual([]);
  expect(await bed.api.recentEvents({ project, before: 0 })).toEqual([]);
});

test.each([
  ['an unknown type', { types: ['task.exploded'] }, 'bad_input'],
  ['an unknown task', { task: 999 }, 'not_found'],
  ['too many at once', { limit: 501 }, 'bad_input'],
  ['none at all', { limit: 0 }, 'bad_input'],
  ['a cursor that is no number', { before: 'x' as unknown as number }, 'bad_input'],
])('a request for events with %s is refused', async (_, query, code) => {
  await expect(bed.api.recentEvents({ project, ...query })).rejects.toMatchObject({ code });
});
