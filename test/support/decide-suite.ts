import type { EventBody, Job, Task } from '@tidemill/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Command, Decision } from '../../packages/core/src/command.ts';
import { decide } from '../../packages/core/src/decide.ts';
import { CHAIN_START, chainFaults } from '../../packages/core/src/gate/evidence.ts';
import { roleOf } from '../../packages/core/src/pipeline/stage.ts';
import { reduce } from '../../packages/core/src/reduce.ts';
import type { Slice } from '../../packages/core/src/slice.ts';
import { digest, replay, rowsOf } from './command-world.ts';
import { Mill } from './mill.ts';
import { commandOf, type Dice, dice } from './wild-command.ts';

const projectId = 'project_1';
const story = fc.array(dice, { minLength: 20, maxLength: 200, size: 'max' });

const NOUNS = ['projects', 'tasks', 'runs', 'workers', 'evidence', 'records'] as const;
const allRows = (mill: Mill) => [...NOUNS.flatMap((noun) => [...mill[noun].values()]), ...mill.log];

function changedBy(whole: Slice, events: EventBody[], now: number): unknown[] {
  for (const body of events) reduce(whole, projectId, now, body);
  return NOUNS.flatMap((noun) => [...whole[noun].changed.values()]).sort(byId);
}

function changedIn(mill: Mill, before: unknown[]): unknown[] {
  const known = new Set(before);
  return NOUNS.flatMap((noun) => [...mill[noun].values()].filter((row) => !known.has(row))).sort(byId);
}

const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);

/** Executes random commands; `around` sees each one before and after it. */
function play(throws: Dice[], around: (mill: Mill, command: Command, execute: () => Decision) => void): Mill {
  const mill = new Mill();
  for (const each of throws) {
    const command = commandOf(mill, each);
    mill.now += command ? 10 : each.a * 10_000;
    if (command) around(mill, command, () => mill.execute(command));
  }
  return mill;
}

const USUAL_STAGES = ['implement', 'review', 'merge', 'done', 'blocked', 'needs_info'];
/** One story of 23 verifies, and one of eight cancels. So many stories reach both, whatever the seed. */
const RARE_STAGES = ['verify', 'cancelled'];
const MANY_RUNS = 400;

/** So many random stories. */
export function decidesAnything(numRuns: number): void {
  describe('in any sequence of commands', { timeout: 120_000 }, () => {
    test('a refused command changes nothing; the scope and all rows lead to the same events', () => {
      fc.assert(
        fc.property(story, (throws) => {
          play(throws, (mill, command, execute) => {
            const before = allRows(mill);
            const whole = mill.loadAll();
            const expected = decide(whole, command, mill.env());
            const decision = execute();
            expect(decision).toEqual(expected);
            // Rows are replaced, never mutated: the same rows mean that nothing happened.
            if (!decision.ok) expect(allRows(mill).every((row, index) => row === before[index])).toBe(true);
            else expect(changedBy(whole, decision.events, mill.now)).toEqual(changedIn(mill, before));
          });
        }),
        { numRuns },
      );
    });

    test('replaying the log gives the same rows, and the evidence chain holds', () => {
      fc.assert(
        fc.property(story, (throws) => {
          const mill = play(throws, (_mill, _command, execute) => execute());
          const again = replay(mill.log);
          for (const [noun, rows] of Object.entries(rowsOf(mill))) expect(new Set(again[noun])).toEqual(new Set(rows));
          const links = [...mill.evidence.values()].sort((a, b) => a.position - b.position);
          expect(chainFaults(links, { prev: CHAIN_START, position: 0 }, digest)).toEqual([]);
        }),
        { numRuns },
      );
    });

    test('commands that share a transaction have the same results as one by one', () => {
      fc.assert(
        fc.property(story, fc.array(dice, { minLength: 2, maxLength: 8 }), (throws, batch) => {
          const mill = play(throws, (_mill, _command, execute) => execute());
          // A claim may miss what just became ready: the commit wakes the claimer again.
          const commands = batch
            .map((each) => commandOf(mill, each))
            .filter((each) => each && each.type !== 'work.claim');
          const [apart, together] = [mill.copy(), mill.copy()];
          expect(together.executeBatch(commands as Command[])).toEqual(
            commands.map((command) => apart.execute(command as Command)),
          );
          // A row that was removed and made again is at another place, which means nothing.
          const rows = rowsOf(together);
          for (const [noun, expected] of Object.entries(rowsOf(apart)))
            expect(new Set(rows[noun])).toEqual(new Set(expected));
        }),
        { numRuns },
      );
    });

    test('the invariants hold after each command', () => {
      const reached = new Set<string>();
      fc.assert(
        fc.property(story, (throws) => {
          play(throws, (mill, _command, execute) => {
            const before = new Map(mill.tasks);
            const decision = execute();
            if (decision.ok) checkSteps(before, decision.events);
            expect(faultsOf(mill)).toEqual([]);
            for (const { stage } of mill.tasks.values()) reached.add(stage);
          });
        }),
        { numRuns },
      );
      // Otherwise the sequences test too little.
      for (const stage of numRuns < MANY_RUNS ? USUAL_STAGES : [...USUAL_STAGES, ...RARE_STAGES])
        expect(reached).toContain(stage);
    });
  });
}

/** Stages change only by events that name both ends; tokens grow; a claim finds the task free. */
function checkSteps(before: Map<string, Task>, events: EventBody[]): void {
  const stages = new Map([...before].map(([id, task]) => [id, task.stage]));
  for (const event of events) {
    if (event.type === 'task.moved' || event.type === 'task.blocked' || event.type === 'task.parked') {
      expect(event.from).toBe(stages.get(event.taskId));
      const to = event.type === 'task.moved' ? event.to : event.type === 'task.blocked' ? 'blocked' : 'needs_info';
      stages.set(event.taskId, to);
    }
    if (event.type === 'lease.claimed' && event.jobId === undefined) {
      expect(before.get(event.subjectId)?.lease).toBeNull();
      expect(event.token).toBeGreaterThan(before.get(event.subjectId)!.fence);
    }
    if (event.type === 'merge.landed')
      expect(before.get(event.taskId)?.prepared).toMatchObject({ commit: event.commit, tree: event.tree });
  }
}

/** The broken invariants. Written without `expect`, which is slow for so many checks. */
function faultsOf(mill: Mill): string[] {
  const tasks = [...mill.tasks.values()];
  const holders = tasks.flatMap(({ lease }) => (lease ? [lease.workerId] : []));
  const faults = new Set(holders).size < holders.length ? ['a worker holds two tasks'] : [];
  for (const task of tasks) {
    const { stage, lease, role } = task;
    const isParked = stage === 'blocked' || stage === 'needs_info';
    const isOver = stage === 'done' || stage === 'cancelled';
    const truths: [string, boolean][] = [
      [
        'unmet counts what is not done',
        task.unmet === task.dependsOn.filter((id) => mill.task(id).stage !== 'done').length,
      ],
      ['the role is that of the stage', role === roleOf(mill.rules(), task.pipeline, stage)],
      ['blocked says why', (task.blocked !== null) === (stage === 'blocked')],
      ['needs_info says what', stage !== 'needs_info' || task.openQuestions.length > 0],
      // A question during a run parks the task when the run ends.
      ['an open question holds the task', task.openQuestions.length === 0 || isParked || isOver || lease !== null],
      ['a parked task knows where it resumes', (task.resumeStage !== null) === isParked],
      ['review cycles ≤ 3', task.counters.reviewCycles <= 3],
      ['a lease has the newest token', !lease || lease.token === task.fence],
      ['only what a worker can do is held', !lease || (role !== null && task.unmet === 0 && stage !== 'open')],
      ['a candidate stays in its merge', !task.prepared || (task.resumeStage ?? stage) === 'merge'],
      ['done means landed', (task.landedCommit !== null) === (stage === 'done')],
      ['no task waits for itself', !waitsForItself(mill, task)],
    ];
    for (const [name, holds] of truths) if (!holds) faults.push(`#${task.number} in ${stage}: ${name}`);
  }
  for (const job of jobsOf(mill)) {
    if (job.lease && job.status !== 'open') faults.push(`${job.id}: ${job.status}, and still leased`);
    if (job.lease && job.lease.token !== job.fence) faults.push(`${job.id}: its lease has an old token`);
  }
  for (const { id, status, subjectId, jobId, workerId } of mill.runs.values()) {
    const work = jobId === undefined ? mill.task(subjectId) : jobsOf(mill).find((job) => job.id === jobId);
    const { lastRunId, lease } = work!;
    if (status === 'running' && !(lastRunId === id && lease?.workerId === workerId))
      faults.push(`${id}: its run is not active`);
  }
  return faults;
}

const jobsOf = (mill: Mill): Job[] => [...mill.records.values()].filter((record) => record.noun === 'job');

function waitsForItself(mill: Mill, task: Task): boolean {
  const seen = new Set<string>();
  const pending = [...task.dependsOn];
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    if (id === task.id) return true;
    if (!seen.has(id)) pending.push(...mill.task(id).dependsOn);
    seen.add(id);
  }
  return false;
}
