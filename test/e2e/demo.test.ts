import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { EventBody, LoggedEvent, ProposalView, SpecSummary, Task, TaskSummary } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeSample } from '../../packages/daemon/src/demo/sample.ts';
import { type Finished, TidemillHome } from '../support/tidemill-home.ts';

const MINUTE = 60_000;
const TASKS = 8;

let machine: TidemillHome;
let sample: string;
let demo: Finished;
let events: LoggedEvent[];

type Body<T extends EventBody['type']> = Extract<EventBody, { type: T }>;
const eventsOf = <T extends EventBody['type']>(type: T) =>
  events.map(({ body }) => body).filter((body): body is Body<T> => body.type === type);

describe('tidemill demo --exit, on a fresh machine', () => {
  beforeAll(async () => {
    machine = new TidemillHome();
    sample = join(machine.data, 'demo', 'tide-almanac');
    demo = await machine.run(['demo', '--exit'], machine.home);
    events = demo.code === 0 ? await machine.jsonLines<LoggedEvent>(['events'], sample) : [];
  }, 8 * MINUTE);
  afterAll(() => machine.close());

  // `npm run bench -- demo` measures that it takes less than a minute.
  test('succeeds, from an idea to a proposal that waits for a yes', async () => {
    expect(demo.code, `${demo.stdout}\n${demo.stderr}`).toBe(0);
    expect(demo.stderr).toBe('');
    expect(demo.stdout).toContain('refining → complete');
    expect(demo.stdout).toContain('Specification S1 is approved: 8 tasks.');
    expect(demo.stdout).toContain('tidemill loop approve 1');
    const specs = await machine.json<SpecSummary[]>(['spec', 'list'], sample);
    expect(specs).toMatchObject([{ status: 'done', tasks: TASKS, done: TASKS }]);
    // A slow machine may ask for a second one before the loop is switched off. The script proposes the same again,
    // and the demo may end while that is compared.
    const proposals = await machine.json<ProposalView[]>(['loop', 'proposals'], sample);
    const waiting = proposals.filter(({ status }) => !['checking', 'duplicate'].includes(status));
    expect(waiting).toMatchObject([{ number: 1, status: 'waiting' }]);
  });

  test('says what happened to each task and where to look, within 80 columns', () => {
    for (const text of [
      `${TASKS} of ${TASKS} tasks done`,
      'gate test failed once, repaired',
      'agent crashed once, recovered',
      'review rejected once, reworked',
      'conflict in lib/commands.mjs resolved',
      'same file as #2, kept apart',
      `cd ${sample}`,
      'tidemill evidence verify HEAD',
    ])
      expect(demo.stdout).toContain(text);
    // Lines of the log keep their reasons.
    const isLog = (line: string) => /^\d\d:\d\d/.test(line);
    const shown = demo.stdout.split('\n').filter((line) => !isLog(line) && !line.includes(machine.folder));
    expect(shown.filter((line) => line.length > 80 && !line.includes('alias'))).toEqual([]);
  });

  test('every task is done and landed exactly once, as one commit with its trailers', async () => {
    const tasks = await machine.json<TaskSummary[]>(['task', 'list'], sample);
    expect(tasks.map(({ stage }) => stage)).toEqual(Array(TASKS).fill('done'));
    const log = await machine.git(sample, 'log', '--format=%H %(trailers:key=Task,valueonly,separator=%x2C).', 'main');
    const landed = log.split('\n').map((line) => line.split(' ') as [string, string]);
    expect(landed).toHaveLength(TASKS + 1);
    expect(landed.map(([, task]) => task).toSorted()).toEqual([...tasks.map(({ number }) => `#${number}.`), '.']);
    for (const { number, landedCommit } of tasks)
      expect(landed.find(([, task]) => task === `#${number}.`)?.[0]).toBe(landedCommit);
  });

  test("the sample's own tests pass on the target branch, in the person's checkout", async () => {
    expect(await machine.git(sample, 'status', '--porcelain')).toBe('');
    expect(await machine.git(sample, 'branch', '--show-current')).toBe('main');
    const tests = await machine.program('npm', ['test'], sample);
    expect(tests.code, tests.stdout).toBe(0);
    const mill = await machine.program(process.execPath, ['bin/almanac.mjs', 'mill'], sample);
    expect(mill.stdout).toContain('the wheel turns from 06:27 to 13:32');
  });

  test('the evidence of every landed commit is valid', async () => {
    const commits = (await machine.git(sample, 'rev-list', `--max-count=${TASKS}`, 'main')).split('\n');
    for (const commit of commits) {
      const { ok, checks } = await machine.ask(sample, (api, project) => api.verifyEvidence({ project, commit }));
      expect(ok, JSON.stringify(checks)).toBe(true);
    }
  });

  test('doctor finds nothing wrong', async () => {
    const doctor = await machine.run(['doctor'], sample);
    expect(doctor.code, doctor.stdout + doctor.stderr).toBe(0);
    const { findings } = await machine.json<{ findings: { level: string }[] }>(['doctor'], sample);
    expect(findings.filter(({ level }) => level === 'problem')).toEqual([]);
  });

  test('each promised incident is in the log', () => {
    expect(eventsOf('run.sent_back').some(({ gates }) => gates.includes('test'))).toBe(true);
    const finished = eventsOf('run.finished');
    expect(finished.some(({ outcome }) => outcome === 'changes_requested')).toBe(true);
    expect(finished.some(({ failure }) => failure === 'crash')).toBe(true);
    expect(eventsOf('task.moved').some(({ because }) => because === 'conflicts_detected')).toBe(true);
    const waits = eventsOf('task.created').filter(({ dependsOn }) => dependsOn.length > 0);
    expect(waits.length).toBeGreaterThanOrEqual(4);
  });

  test('two tasks with the same file in their scope never ran together, and both changed it', async () => {
    const created = eventsOf('task.created');
    const shared = created.filter(({ files }) => files.includes('lib/table.mjs'));
    expect(shared).toHaveLength(2);
    const [first, second] = shared.map(({ taskId }) => buildingSpans(taskId));
    for (const one of first!)
      for (const other of second!) expect(one.to <= other.from || other.to <= one.from).toBe(true);
    for (const { number } of shared) {
      const { task } = await machine.json<{ task: Task }>(['task', 'show', String(number)], sample);
      const names = await machine.git(sample, 'show', '--name-only', '--format=', task.landedCommit!);
      expect(names.split('\n')).toContain('lib/table.mjs');
    }
  });

  test('three agents built at the same time', () => {
    const running = new Set<string>();
    let most = 0;
    for (const { body } of events) {
      if (body.type === 'run.started' && body.mode !== 'review') running.add(body.runId);
      if (body.type === 'run.finished') running.delete(body.runId);
      most = Math.max(most, running.size);
    }
    expect(most).toBe(3);
  });

  test(
    'a second demo creates its own sample; a folder in use is refused',
    async () => {
      const refused = await machine.run(['demo', '--exit', '--dir', sample], machine.home);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain('is not empty');
      expect(await machine.git(sample, 'status', '--porcelain')).toBe('');
      const second = await makeSample({ home: machine.data });
      expect(second).toBe(`${realpathSync(sample)}-2`);
      const chosen = await makeSample({ home: machine.data, dir: join(machine.folder, 'a chosen one') });
      for (const root of [second, chosen]) expect(await machine.git(root, 'status', '--porcelain')).toBe('');
    },
    MINUTE,
  );
});

/** When a builder held the task, by position in the log. */
function buildingSpans(taskId: string): { from: number; to: number }[] {
  const spans: { from: number; to: number }[] = [];
  for (const { seq, body } of events) {
    if (body.type === 'lease.claimed' && body.subjectId === taskId && body.workerId.includes('/agent-'))
      spans.push({ from: seq, to: Number.POSITIVE_INFINITY });
    if (body.type === 'lease.released' && body.subjectId === taskId && body.workerId.includes('/agent-'))
      spans.at(-1)!.to = seq;
  }
  return spans;
}
