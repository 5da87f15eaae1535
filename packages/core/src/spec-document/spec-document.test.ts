import { SPEC_PHASES, SpecDraft, type SpecTask } from '@tidemill/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { gotchasFor } from '../spec/gotchas.ts';
import { cycleIn, inBuildOrder } from './order.ts';
import { dependenciesOf } from './phase-order.ts';
import { readinessOf } from './readiness.ts';
import { specFaults } from './validate.ts';

const ready = {
  id: 'T1',
  title: 'Add the table',
  phase: 'database',
  files: ['db/1.sql'],
  requirements: ['R1'],
  accept: ['The table has a column "name"'],
  validate: 'npm test',
  estimateMinutes: 30,
};
const draftOf = (...tasks: object[]): SpecDraft =>
  SpecDraft.parse({
    title: 'Names',
    requirements: [{ id: 'R1', text: 'Names are kept' }],
    tasks: tasks.map((task) => ({ ...ready, ...task })),
  });
const taskOf = (task: object): SpecTask => draftOf(task).tasks[0]!;

describe('the phases of a specification', () => {
  const node = (id: string, phase: SpecTask['phase'], ...dependsOn: string[]) => ({ id, phase, dependsOn });

  test('are default dependencies: a task that names none waits for the nearest earlier phase', () => {
    const tasks = [
      node('P', 'tests'),
      node('U', 'ui', 'A1'),
      node('A1', 'api'),
      node('A2', 'api', 'A1'),
      node('D', 'database'),
    ];
    expect(Object.fromEntries(dependenciesOf(inBuildOrder(tasks)))).toEqual({
      D: [],
      A1: ['D'],
      A2: ['A1'],
      U: ['A1'],
      P: ['U'],
    });
  });

  test('add no cycle when a task of an early phase waits for one of a late phase', () => {
    const tasks = [node('D', 'database', 'A'), node('A', 'api'), node('B', 'api')];
    const waits = dependenciesOf(inBuildOrder(tasks));
    expect(waits.get('A')).toEqual([]);
    expect(cycleIn(tasks.map(({ id }) => ({ id, dependsOn: waits.get(id)! })))).toBeNull();
  });
});

describe('a specification', () => {
  test.each([
    ['a path above', draftOf({ files: ['../secrets'] }), 'the file "../secrets" leaves the repository'],
    ['an absolute path', draftOf({ files: ['/etc/passwd'] }), 'the file "/etc/passwd" is not in the repository'],
    ['git itself', draftOf({ files: ['.git/config'] }), 'belongs to git'],
    ['a drive', draftOf({ files: ['C:\\x'] }), 'is not in the repository'],
    ['the same id', draftOf({}, { title: 'Other' }), 'two tasks are called T1'],
    ['the same title', draftOf({}, { id: 'T2', title: 'add the  Table' }), 'tasks T1 and T2 have the same title'],
    ['an unknown task', draftOf({ dependsOn: ['T9'] }), 'task T1 names the task T9, which does not exist'],
    ['an unknown requirement', draftOf({ requirements: ['R1', 'R9'] }), 'names the requirement R9'],
    ['no task for it', draftOf({ requirements: [] }), 'no task names the requirement R1'],
    [
      'a cycle',
      draftOf({ dependsOn: ['T2'] }, { id: 'T2', title: 'Other', dependsOn: ['T1'] }),
      'tasks wait for each other: T1 → T2 → T1',
    ],
    ['itself', draftOf({ dependsOn: ['T1'] }), 'tasks wait for each other: T1 → T1'],
    [
      'too many',
      draftOf(...Array.from({ length: 5_000 }, (_, at) => ({ id: `T${at}`, title: `Task ${at}` }))),
      'it has 5000 tasks; a specification has at most 500',
    ],
  ])('is refused for %s', (_, draft, fault) => {
    expect(specFaults(draft).join('\n')).toContain(fault);
  });

  test('without a fault is accepted', () => {
    expect(specFaults(draftOf({}))).toEqual([]);
  });

  test('of 200 tasks is validated and ordered quickly', () => {
    const tasks = Array.from({ length: 200 }, (_, at) => ({
      id: `T${at}`,
      title: `Task ${at}`,
      dependsOn: at > 1 ? [`T${at - 1}`, `T${at - 2}`] : [],
    }));
    const draft = draftOf(...tasks);
    expect(specFaults(draft)).toEqual([]);
    expect(inBuildOrder(draft.tasks).map(({ id }) => id)).toEqual(tasks.map(({ id }) => id));
  });
});

describe('the build order of a specification', () => {
  test('keeps dependencies first, phases second, in any list', () => {
    const task = fc.record({ phase: fc.constantFrom(...SPEC_PHASES), after: fc.array(fc.nat(40), { maxLength: 4 }) });
    fc.assert(
      fc.property(fc.array(task, { maxLength: 40 }), (drawn) => {
        const tasks = drawn.map(({ phase, after }, at) => ({
          id: `T${at}`,
          phase,
          dependsOn: after.filter((other) => other < drawn.length).map((other) => `T${other}`),
        }));
        const order = inBuildOrder(tasks);
        const place = new Map(order.map(({ id }, at) => [id, at]));
        for (const { id, dependsOn } of order)
          for (const before of dependsOn) expect(place.get(before)!).toBeLessThan(place.get(id)!);
        expect(order.length === tasks.length).toBe(cycleIn(tasks) === null);
      }),
    );
  });

  test('begins with the database', () => {
    const tasks = draftOf({ phase: 'tests' }, { id: 'T2', title: 'b', phase: 'api' }, { id: 'T3', title: 'c' }).tasks;
    expect(inBuildOrder(tasks).map(({ id }) => id)).toEqual(['T3', 'T2', 'T1']);
  });
});

describe('the readiness of a specified task', () => {
  test.each([
    [{}, 100, []],
    [{ title: 'Add the table and the page' }, 85, ['single concern']],
    [{ files: ['a', 'b', 'c', 'd'] }, 85, ['few files']],
    [{ estimateMinutes: 61 }, 90, ['short']],
    [{ validate: '' }, 75, ['testable']],
    [{ dependsOn: ['T2', 'T3', 'T4'] }, 90, ['independent']],
    [{ accept: [] }, 75, ['clear completion']],
    [{ accept: ['The page works well'] }, 75, ['clear completion']],
    [{ accept: [], validate: '' }, 50, ['testable', 'clear completion']],
  ])('with the change %j scores %d', (task, score, missing) => {
    const readiness = readinessOf(taskOf(task));
    expect(readiness).toMatchObject({ score, isReady: score >= 70 });
    expect(readiness.missing.map(({ name }) => name)).toEqual(missing);
  });
});

test('a task gets at most five gotchas that fit its file or action, and none that is doubtful', () => {
  const gotcha = (text: string, more: object = {}) => ({ text, files: '', action: null, confidence: 0.7, ...more });
  const known = [
    gotcha('of another file', { files: 'web/**' }),
    gotcha('of the file', { files: 'db/*.sql', confidence: 0.9 }),
    gotcha('of the action', { action: 'create' as const }),
    gotcha('of another action', { action: 'delete' as const }),
    gotcha('doubtful', { confidence: 0.5 }),
    ...['a', 'b', 'c', 'd', 'e'].map((text) => gotcha(text)),
  ];
  const found = gotchasFor(known, { files: ['db/1.sql'], action: 'create' }).map(({ text }) => text);
  expect(found).toEqual(['of the file', 'of the action', 'a', 'b', 'c']);
});
