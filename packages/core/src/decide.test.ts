import type { EventBody, Task } from '@tidemill/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { digest, replay, rowsOf } from '../../../test/support/command-world.ts';
import { Mill } from '../../../test/support/mill.ts';
import { commandOf, type Dice, dice } from '../../../test/support/wild-command.ts';
import type { Command, Decision } from './command.ts';
import { decide } from './decide.ts';
import { CHAIN_START, chainFaults } from './gate/evidence.ts';
import { roleOf } from './pipeline/stage.ts';
import { reduce } from './reduce.ts';

const projectId = 'project_1';
const story = fc.array(dice, { minLength: 20, maxLength: 120, size: 'max' });
const RUNS = { numRuns: 150 };

/** Plays the dice; `around` sees each command before and after it is executed. */
function play(throws: Dice[], around: (mill: Mill, command: Command, execute: () => Decision) => void): Mill {
  const mill = new Mill();
  for (const each of throws) {
    const command = commandOf(mill, each);
    mill.now += command ? 10 : each.a * 10_000;
    if (command) around(mill, command, () => mill.execute(command));
  }
  return mill;
}

describe('any sequence of commands', () => {
  test('a refusal changes nothing; the same events follow from the scope and from the whole world', () => {
    fc.assert(
      fc.property(story, (throws) => {
        play(throws, (mill, command, execute) => {
          const [rows, length] = [rowsOf(mill), mill.log.length];
          const whole = mill.loadAll();
          const expected = decide(whole, command, mill.env());
          const decision = execute();
          expect(decision).toEqual(expected);
          if (!decision.ok) {
            expect(mill.log.length).toBe(length);
            expect(rowsOf(mill)).toEqual(rows);
            return;
          }
          for (const body of decision.events) reduce(whole, projectId, mill.now, body);
          expect(new Set(rowsOf(whole).tasks)).toEqual(new Set(rowsOf(mill).tasks));
        });
      }),
      RUNS,
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
      RUNS,
    );
  });

  test('commands that share a transaction come out as one by one', () => {
    fc.assert(
      fc.property(story, fc.array(dice, { minLength: 2, maxLength: 8 }), (throws, batch) => {
        const mill = play(throws, (_mill, _command, execute) => execute());
        // A claim may miss what became ready a moment ago: the commit wakes the claimer again.
        const commands = batch
          .map((each) => commandOf(mill, each))
          .filter((each) => each && each.type !== 'work.claim');
        const [apart, together] = [mill.copy(), mill.copy()];
        expect(together.executeBatch(commands as Command[])).toEqual(
          commands.map((command) => apart.execute(command as Command)),
        );
        expect(rowsOf(together)).toEqual(rowsOf(apart));
      }),
      RUNS,
    );
  });

  test('what must always hold, holds after each', () => {
    const reached = new Set<string>();
    fc.assert(
      fc.property(story, (throws) => {
        play(throws, (mill, _command, execute) => {
          const before = new Map(mill.tasks);
          const decision = execute();
          if (decision.ok) checkSteps(before, decision.events);
          checkWorld(mill);
          for (const { stage } of mill.tasks.values()) reached.add(stage);
        });
      }),
      RUNS,
    );
    // Else the sequences are too tame to mean anything.
    for (const stage of ['implement', 'verify', 'review', 'merge', 'done', 'blocked', 'needs_info', 'cancelled'])
      expect(reached).toContain(stage);
  });
});

/** Stages change only by events that name both ends; tokens grow; a claim finds the task free. */
function checkSteps(before: Map<string, Task>, events: EventBody[]): void {
  const stages = new Map([...before].map(([id, task]) => [id, task.stage]));
  for (const event of events) {
    if (event.type === 'task.moved' || event.type === 'task.blocked' || event.type === 'task.parked') {
      expect(event.from).toBe(stages.get(event.taskId));
      const to = event.type === 'task.moved' ? event.to : event.type === 'task.blocked' ? 'blocked' : 'needs_info';
      stages.set(event.taskId, to);
    }
    if (event.type === 'lease.claimed') {
      expect(before.get(event.taskId)?.lease).toBeNull();
      expect(event.token).toBeGreaterThan(before.get(event.taskId)!.fence);
    }
    if (event.type === 'merge.landed')
      expect(before.get(event.taskId)?.prepared).toMatchObject({ commit: event.commit, tree: event.tree });
  }
}

function checkWorld(mill: Mill): void {
  const tasks = [...mill.tasks.values()];
  const holders = tasks.flatMap(({ lease }) => (lease ? [lease.workerId] : []));
  expect(new Set(holders).size).toBe(holders.length);
  for (const task of tasks) {
    const { stage, lease, prepared } = task;
    expect(task.unmet).toBe(task.dependsOn.filter((id) => mill.task(id).stage !== 'done').length);
    expect(task.role).toBe(roleOf(mill.rules(), task.pipeline, stage));
    expect([task.blocked !== null, task.openQuestions.length > 0]).toEqual([
      stage === 'blocked',
      stage === 'needs_info',
    ]);
    expect(task.resumeStage !== null).toBe(stage === 'blocked' || stage === 'needs_info');
    expect(task.counters.reviewCycles).toBeLessThanOrEqual(3);
    if (lease) expect([lease.token, task.role === null, task.unmet]).toEqual([task.fence, false, 0]);
    if (prepared) expect(task.resumeStage ?? stage).toBe('merge');
    expect(task.landedCommit !== null).toBe(stage === 'done');
    expect(waitsForItself(mill, task)).toBe(false);
  }
  for (const run of mill.runs.values())
    if (run.status === 'running')
      expect(mill.task(run.taskId)).toMatchObject({ lastRunId: run.id, lease: { workerId: run.workerId } });
}

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
