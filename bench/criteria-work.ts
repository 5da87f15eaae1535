import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventBody, LoggedEvent } from '@tidemill/contract';
import { assetDir } from '../packages/daemon/src/assets.ts';
import { loadCategories } from '../packages/daemon/src/prompts/categories.ts';
import { type BodyOf, type Measured, secondsUntil, startWorking, type WorkingDaemon } from './criteria-daemon.ts';
import { git } from './repository.ts';
import { timed } from './sample.ts';

const FILES = 5;

/** Answers at once in every mode. It rejects the first change once, and conflicts where its task says so. */
const AGENT = `import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
const { mode, task } = JSON.parse(readFileSync(0, 'utf8'));
const door = process.env.DOOR;
const say = (message) => console.log(JSON.stringify({ tidemill: 'result', summary: 'done', ...message }));
if (mode === 'plan') say({ outcome: 'plan_complete', plan: 'Do it.' });
else if (mode === 'review') {
  const first = task.number === 1 && !existsSync(door + '/rejected');
  if (first) writeFileSync(door + '/rejected', '');
  const criteria = task.acceptance.map(({ id }) => ({ id, met: !first, evidence: 'gate test passes' }));
  say({ outcome: first ? 'changes_requested' : 'approved', review: { criteria, comments: first ? ['Again.'] : [] } });
} else if (mode === 'propose') {
  const criteria = ['the wheel turns', 'the wheel makes no noise', 'a test shows both'];
  const proposal = { title: 'Grease the wheel', description: 'It squeaks.', criteria, effortHours: 1 };
  say({ outcome: 'proposed', proposal });
} else {
  if (task.title === 'Conflict') {
    for (let file = 0; file < ${FILES}; file += 1) writeFileSync('lib-0/part-' + file + '.js', 'agent');
    writeFileSync(door + '/begun', '');
    while (!existsSync(door + '/go')) await delay(10);
  }
  writeFileSync(door + '/spent-' + task.number, String(Date.now()));
  console.log(JSON.stringify({ tidemill: 'usage', inputTokens: 10, outputTokens: 1, costUsd: 0.01 }));
  writeFileSync('work-' + task.number + '-' + mode + '.txt', 'done');
  say({ outcome: 'pr_ready' });
}
`;
const SETTINGS = `pipeline: feature
loop: { enabled: false, min: 1, max: 1, exposure: 4, approval: automated, categories: [testing] }
`;

/** What happens to work, from the times in the log. */
export async function measureWork(folder: string): Promise<Measured[]> {
  const bed = await startWorking(folder, AGENT, SETTINGS, 1);
  try {
    const { api, project } = bed;
    const texts = await timed(() => loadCategories({ root: bed.root, builtinDir: assetDir('prompts/categories') }));
    await api.addTask({ project, title: 'Turn the wheel', accept: ['it turns'] });
    await api.addTask({ project, title: 'Turn it again', accept: ['it turns'] });
    const done = await bed.event('task.moved', ({ to }) => to === 'done');
    const hasFigures = async () => (await api.metrics({ project, period: '24h' })).total.completed > 0;
    await secondsUntil(hasFigures);
    const counted = (Date.now() - done.at) / 1000;
    const prompt = await timed(() => api.prompt({ project, task: 1, mode: 'review' }));
    await bed.event('task.moved', ({ to, taskId }) => to === 'done' && taskId !== done.body.taskId);
    await api.switchLoop({ project, on: true, by: 'bench' });
    const proposed = await bed.event('proposal.accepted');
    await bed.event('lease.claimed', ({ subjectId }) => subjectId === proposed.body.taskId);
    await api.switchLoop({ project, on: false, by: 'bench' });
    const conflict = await measureConflict(bed);
    return [
      { id: 'AC-3.1.b', what: 'the prompt of a reviewer', seconds: prompt / 1000 },
      { id: 'AC-4.1.b', what: 'the texts of all categories', seconds: texts / 1000 },
      { id: 'AC-5.4.a', what: 'the figures count a task that is done', seconds: counted },
      { id: 'AC-5.3.a', what: `a conflict in ${FILES} files is listed`, seconds: conflict },
      ...inLog(await bed.log()),
      { id: 'AC-2.4.a', what: 'what a request cost is recorded', seconds: await spentIn(bed) },
    ];
  } finally {
    await bed.program.stop();
  }
}

/** A person changes the same lines while the agent works. */
async function measureConflict({ api, project, root, door, event }: WorkingDaemon): Promise<number> {
  await api.addTask({ project, title: 'Conflict', accept: ['it turns'], priority: 0 });
  await secondsUntil(() => existsSync(join(door, 'begun')));
  for (let file = 0; file < FILES; file += 1) await writeFile(join(root, 'lib-0', `part-${file}.js`), 'person\n');
  await git(root, 'commit', '-q', '-a', '-m', 'Change the same');
  await writeFile(join(door, 'go'), '');
  const { at } = await event('task.blocked', ({ reason }) => reason === 'conflict');
  await secondsUntil(async () => (await api.conflicts({ project })).length > 0);
  return (Date.now() - at) / 1000;
}

/** From the moment the agent reports it. */
async function spentIn({ door, log }: WorkingDaemon): Promise<number> {
  const said = Number(await readFile(join(door, 'spent-2'), 'utf8'));
  const recorded = (await log()).find(({ at, body }) => body.type === 'run.spent' && at >= said);
  return (recorded!.at - said) / 1000;
}

/** From each event of one kind to the next of another kind; the longest of all such times. */
function inLog(all: LoggedEvent[]): Measured[] {
  const of = <T extends EventBody['type']>(type: T, isIt: (body: BodyOf<T>) => boolean = () => true): LoggedEvent[] =>
    all.filter(({ body }) => body.type === type && isIt(body as BodyOf<T>));
  const started = (...modes: string[]) => of('run.started', ({ mode }) => modes.includes(mode));
  const ended = (mode: string, outcome: string) => {
    const runs = new Set(started(mode).map(({ body }) => (body as BodyOf<'run.started'>).runId));
    return of('run.finished', (body) => runs.has(body.runId) && body.outcome === outcome);
  };
  const moved = (stage: string) => of('task.moved', ({ to }) => to === stage);
  const created = of('task.created', ({ origin }) => origin?.kind === 'loop');
  const steps: [id: string, what: string, from: LoggedEvent[], to: LoggedEvent[]][] = [
    ['AC-2.2.b', 'approved work has landed and is pushed', ended('review', 'approved').slice(0, 2), of('merge.landed')],
    ['AC-2.2.c', 'a task that has landed is done', of('merge.landed'), moved('done')],
    ['AC-3.2.a', 'finished work waits for review', ended('implement', 'pr_ready'), moved('review')],
    ['AC-3.5.a', 'a rejection is on the task', ended('review', 'changes_requested'), moved('implement')],
    ['AC-4.2.b', 'the use of a category is recorded before the agent starts', of('category.used'), started('propose')],
    ['AC-4.3.a', 'an agent looks for an improvement', of('category.used'), started('propose')],
    ['AC-4.4.a', 'a proposal is a task', ended('propose', 'proposed'), created],
    ['AC-4.5.a', 'a free worker has its next work', ended('implement', 'pr_ready'), of('run.started')],
    ['AC-4.5.b', 'an empty queue starts the loop', of('loop.switched').slice(0, 1), started('propose')],
    ['AC-4.5.c', 'the task of a proposal is claimed', created, of('lease.claimed')],
  ];
  return steps.map(([id, what, from, to]) => {
    const times = from.flatMap((first) => {
      const next = to.find(({ seq }) => seq > first.seq);
      return next ? [(next.at - first.at) / 1000] : [];
    });
    if (times.length === 0) throw new Error(`nothing happened that ${id} speaks of`);
    return { id, what, seconds: Math.max(...times) };
  });
}
