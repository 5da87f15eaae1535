import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HousekeepingConfig, personActor, type Task } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DaemonBed } from '../../../../../test/support/daemon-bed.ts';
import { openDataFolder } from '../../config/data-folder.ts';
import { createOutputFiles } from '../../config/output-files.ts';
import { compareLogWithProjection } from '../../store/compare.ts';
import { type GitWorkspace, openWorkspace } from '../../workspace/workspace.ts';
import { Housekeeping } from './housekeeping.ts';

const DAY = 24 * 60 * 60_000;

let bed: DaemonBed;
let workspace: GitWorkspace;
let days = 0;
const notes: string[] = [];
const clock = { now: () => Date.now() + days * DAY, sleep: async () => undefined };
const folder = () => openDataFolder({ TIDEMILL_HOME: bed.home });

beforeEach(async () => {
  bed = await DaemonBed.open();
  days = 0;
  notes.length = 0;
  const { root } = bed.repository;
  const dataDir = folder().project(bed.project);
  workspace = await openWorkspace({ root, target: 'main', landing: 'squash', push: 'never', dataDir, clock });
});
afterEach(async () => {
  await workspace.close();
  await bed.close();
});

/** What the daemon would do that many days from now. */
async function passIn(ahead: number, config: object = {}): Promise<boolean> {
  days = ahead;
  const project = (await bed.store.project(bed.project))!;
  const kept = {
    project,
    config: HousekeepingConfig.parse(config),
    withWorkspace: <T>(work: (w: GitWorkspace) => Promise<T>) => work(workspace),
  };
  const files = createOutputFiles(folder(), clock);
  const onNote = (text: string, error?: unknown) => notes.push(error ? `${text}: ${error}` : text);
  return new Housekeeping({ store: bed.store, files, clock, projects: () => [kept], onNote }).pass();
}

/** Writes a gate's log and returns its hash. */
function gateLog(text: string): string {
  const hash = createHash('sha256').update(text).digest('hex');
  writeFileSync(folder().gateLog(hash), text);
  return hash;
}
const hasGateLog = (hash: string) => existsSync(folder().gateLog(hash));
const runLogOf = (task: Task) => folder().runLog(`run_${task.number}_${task.fence}`);

/** A task with a run and receipts, ready to be merged. */
async function built(title: string, logHash: string, failed?: string): Promise<{ task: Task; commit: string }> {
  const { api, project, repository } = bed;
  await api.addTask({ project, title });
  const task = await bed.claim('agent-1', 'builder');
  writeFileSync(runLogOf(task), `output of ${title}`);
  repository.write({ [`${title}.txt`]: title });
  repository.git('checkout', '-q', '-B', `work-${task.number}`);
  repository.git('add', '-A');
  repository.git('commit', '-q', '-m', title);
  const commit = repository.git('rev-parse', 'HEAD');
  repository.git('checkout', '-q', 'main');
  const tree = repository.git('rev-parse', `${commit}^{tree}`);
  if (failed)
    await bed.prove(task, repository.git('rev-parse', 'main^{tree}'), [{}, { status: 'fail', logHash: failed }]);
  await bed.build(task, commit, [{ logHash: '' }, { logHash }, { logHash: '' }]);
  return { task, commit: repository.git('rev-parse', tree) };
}

async function landed(title: string, logHash: string, failed?: string): Promise<Task> {
  const { repository } = bed;
  const { task, commit: tree } = await built(title, logHash, failed);
  const base = repository.git('rev-parse', 'main');
  const evidence = (await bed.store.evidenceForTree(bed.project, tree)).at(-1)!;
  const message = `${title}\n\nTask: #${task.number}\nEvidence: ${evidence.hash}`;
  const commit = repository.git('commit-tree', tree, '-p', base, '-m', message);
  const merger = await bed.claim('merger', 'merger');
  await bed.must({ type: 'merge.prepare', ...bed.fence(merger), commit, tree, base });
  repository.git('merge', '-q', '--ff-only', commit);
  await bed.must({ type: 'merge.land', ...bed.fence(merger), commit });
  return merger;
}

describe('output of runs and gates', () => {
  test('of a finished task goes by age, of an unfinished one never; evidence of a landed commit stays longer', async () => {
    const [proof, failure, open] = [gateLog('42 passed'), gateLog('1 failed'), gateLog('still at it')];
    const task = await landed('One', proof, failure);
    const { task: other } = await built('Two', open);
    const verify = () => bed.api.verifyEvidence({ project: bed.project });
    await passIn(29);
    expect([proof, failure, open].map(hasGateLog)).toEqual([true, true, true]);
    const output = (await verify()).checks.find(({ name }) => name === 'output');
    expect(output).toEqual({ name: 'output', ok: true, text: 'stored as it was recorded: test' });

    await passIn(31);
    expect([proof, failure, open].map(hasGateLog)).toEqual([true, false, true]);
    expect([task, other].map((each) => existsSync(folder().runLog(`run_${each.number}_1`)))).toEqual([false, true]);
    expect(notes).toEqual([
      expect.stringMatching(/^housekeeping removed 1 run logs by age/),
      expect.stringMatching(/^housekeeping removed 1 gate logs by age/),
    ]);
    expect(await verify()).toMatchObject({ ok: true });

    await passIn(366);
    expect([proof, failure, open].map(hasGateLog)).toEqual([false, false, true]);
    const { ok, checks } = await verify();
    expect(ok).toBe(true);
    const date = new Date(clock.now()).toISOString().slice(0, 10);
    expect(checks.find(({ name }) => name === 'output')?.text).toBe(`the log of test was removed on ${date} by age`);
    const link = (await bed.store.evidence({ projectId: bed.project })).find(({ logHash }) => logHash === proof)!;
    const shown = await bed.api.evidenceLog({ project: bed.project, evidence: link.id });
    expect(shown.text).toBe(`The output of this gate was removed on ${date} by age. Its receipt is kept.`);
    const chunks: string[] = [];
    for await (const { text } of bed.api.runLog({ run: `run_${task.number}_1` })) chunks.push(text);
    expect(chunks.join('')).toMatch(/^\[The output of this run was removed on \d{4}-\d\d-\d\d by age\.\]\n$/);
  });

  test('goes by size, the oldest first, and a log that was changed afterwards does not verify', async () => {
    const proof = gateLog('as recorded');
    const task = await landed('One', proof);
    writeFileSync(runLogOf({ ...task, fence: 1 }), Buffer.alloc(1_500_000));
    expect(await passIn(2, { runLogs: { megabytes: 1 } })).toBe(false);
    expect(existsSync(folder().runLog(`run_${task.number}_1`))).toBe(false);
    expect(notes).toEqual(['housekeeping removed 1 run logs by size, 1.5 MB']);
    writeFileSync(folder().gateLog(proof), 'changed');
    const { ok, checks } = await bed.api.verifyEvidence({ project: bed.project });
    expect(ok).toBe(false);
    expect(checks.find(({ name }) => name === 'output')?.text).toBe('the output of test was changed afterwards');
  });

  test('that is written again at the moment of its removal stays', async () => {
    const hash = gateLog('the same again');
    const [file] = (await createOutputFiles(folder(), clock).list('gates')).filter(({ id }) => id === hash);
    expect(await createOutputFiles(folder(), clock).remove('gates', [{ ...file!, at: 0 }], 'age')).toEqual([]);
    expect(hasGateLog(hash)).toBe(true);
    expect(await createOutputFiles(folder(), clock).removal('gates', hash)).toBeNull();
  });

  test('of a delivery goes by age once it has ended, and the answer to a request for it says so', async () => {
    const { project: projectId } = bed;
    const { rules } = (await bed.store.project(projectId))!;
    const staging = { name: 'staging', when: 'manual', approve: 'automated', after: null } as const;
    const delivery = [{ ...staging, hasHealth: false, hasRollback: false, repeatable: false }];
    await bed.must({ type: 'project.configure', projectId, rules: { ...rules, delivery } });
    const by = personActor('ada');
    const of = { projectId, deliveryId: 'delivery_1', environment: 'staging' };
    const what = { commit: 'c', tree: 't', tasks: [], taskCount: 0, cause: 'manual', specId: null } as const;
    const more = { override: 'a trial', isApproved: false, replaces: [], by };
    await bed.must({ type: 'delivery.request', ...of, ...what, tasks: [], ...more, replaces: [] });
    writeFileSync(folder().deliveryLog('delivery_1'), 'delivered');
    await passIn(400);
    expect(existsSync(folder().deliveryLog('delivery_1'))).toBe(true);
    await bed.must({ type: 'delivery.stop', ...of, by });
    await passIn(364);
    expect(existsSync(folder().deliveryLog('delivery_1'))).toBe(true);
    await passIn(366);
    expect(existsSync(folder().deliveryLog('delivery_1'))).toBe(false);
    const { text } = await bed.api.deliveryLog({ project: projectId, delivery: 1 });
    expect(text).toMatch(/^The output was removed on \d{4}-\d\d-\d\d by age\.$/);
  });

  test('that no receipt names goes by age', async () => {
    const stray = gateLog('tried on the target');
    await passIn(29);
    expect(hasGateLog(stray)).toBe(true);
    await passIn(31);
    expect(hasGateLog(stray)).toBe(false);
  });
});

test('superseded events go by age or size, and a replay of the rest gives the same rows', async () => {
  await landed('One', gateLog('x'));
  const workerId = `${bed.project}/agent-1`;
  for (let i = 0; i < 40; i += 1)
    await bed.must({ type: 'worker.beat', projectId: bed.project, workerId, beat: { memoryMb: i, cpuPercent: 0 } });
  await bed.api.addTask({ project: bed.project, title: 'Later' });
  const before = (await bed.store.logSize()).events;
  await passIn(29);
  await passIn(400, { events: { days: 'never' } });
  expect((await bed.store.logSize()).events).toBe(before);
  await passIn(31);
  expect((await bed.store.logSize()).events).toBe(before - 30);
  for (let i = 0; i < 12; i += 1)
    await bed.must({ type: 'worker.beat', projectId: bed.project, workerId, beat: { memoryMb: i, cpuPercent: 0 } });
  for (let i = 0; i < 6; i += 1)
    await bed.api.addTask({ project: bed.project, title: 'Long', body: 'x'.repeat(199_000) });
  const { events } = await bed.store.logSize();
  await passIn(2);
  expect((await bed.store.logSize()).events).toBe(events);
  await passIn(2, { events: { megabytes: 1 } });
  expect((await bed.store.logSize()).events).toBe(events - 12);
  expect(await compareLogWithProjection(bed.store)).toEqual([]);
  const log = (await bed.api.doctor({})).findings.filter(({ check }) => check === 'log');
  expect(log).toMatchObject([{ level: 'ok', text: 'a replay of the log gives the rows of the store' }]);
});

test('snapshots of long-finished tasks go, but never the last work of one that did not land', async () => {
  const { project, repository } = bed;
  const add = async (title: string) => {
    await bed.api.addTask({ project, title });
    return (await bed.store.tasks({ projectId: project, newestFirst: true, limit: 1 }))[0]!;
  };
  const save = async ({ number, branch }: Task, text: string) => {
    const { path } = await workspace.open({ number, branch });
    writeFileSync(join(path, 'work.txt'), text);
    return (await workspace.snapshot({ number, branch }, text))!;
  };
  const done = await landed('Done', gateLog('x'));
  const [dropped, busy] = [await add('Dropped'), await add('Busy')];
  const saved = [await save(dropped, 'first'), await save(dropped, 'second'), await save(busy, 'third')];
  saved.push(await save(done, 'fourth'));
  await bed.must({ type: 'task.cancel', projectId: project, taskId: dropped.id, by: personActor('ada') });
  const left = async () => (await workspace.snapshots()).map(({ ref }) => saved.indexOf(ref));
  await passIn(89);
  expect((await left()).sort()).toEqual([0, 1, 2, 3]);
  await passIn(91);
  expect((await left()).sort()).toEqual([1, 2]);
  expect(notes.at(-1)).toMatch(/^housekeeping removed 2 snapshots of .* by age$/);
  expect(repository.git('for-each-ref', 'refs/tidemill/snapshots').split('\n')).toHaveLength(2);
});
