import { existsSync } from 'node:fs';
import type { TaskSummary } from '@tidemill/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConflictBed } from '../support/conflict-bed.ts';
import type { TidemillHome } from '../support/tidemill-home.ts';
import { until } from '../support/until.ts';
import type { TemporaryRepository } from './cli-repository.ts';

const MINUTE = 60_000;

let bed: ConflictBed;
let machine: TidemillHome;
let repository: TemporaryRepository;
let root: string;

beforeEach(() => {
  bed = new ConflictBed();
  ({ machine, repository, root } = bed);
});
afterEach(() => bed.close());

test('an aborted conflict is kept in a snapshot, and its task starts again on the newest target', {
  timeout: 4 * MINUTE,
}, async () => {
  const { of } = await bed.conflictIn('locked.txt');
  const detail = await machine.api().conflict(of);
  expect(detail).toMatchObject({ why: 'a file marked critical is among them', files: [{ path: 'locked.txt' }] });
  await machine.api().resolveFile({ ...of, path: 'locked.txt', resolution: { text: 'one\nhalf an idea\n' } });
  // It asks first, and there is no terminal.
  expect((await machine.run(['conflicts', 'abort', '1'], root)).code).not.toBe(0);
  const aborted = await machine.json<TaskSummary>(['conflicts', 'abort', '1', '--yes'], root);
  expect(aborted).toMatchObject({ number: 1, branch: `${detail.branch}.2`, blocked: null });
  await machine.idle(root);
  expect(bed.read('locked.txt')).toBe('one\nmain\ntask 1\n');
  expect(await bed.eventsOf('conflict.aborted')).toMatchObject([{ by: { name: 'ada' }, from: detail.branch }]);
  const kept = await machine.json<{ ref: string; why: string }[]>(['snapshots'], root);
  const ours = kept.find(({ why }) => why.includes('aborted by ada'));
  expect(repository.git('show', `${ours!.ref}:locked.txt`)).toBe('one\nhalf an idea');
  await until(() => !existsSync(detail.worktree));
  await until(() => repository.git('for-each-ref', 'refs/heads/task').trim() === '');
  expect((await machine.run(['conflicts'], root)).stdout).toContain('No conflicts');
});

test('of settling and aborting a conflict at once, one succeeds and the other is refused', {
  timeout: 4 * MINUTE,
}, async () => {
  const { of } = await bed.conflictIn('locked.txt');
  await machine.api().conflict(of);
  await machine.api().resolveFile({ ...of, path: 'locked.txt', resolution: { take: 'ours' } });
  // The target's line is missing: refused with the file and the line, until the person accepts exactly that.
  const dropping = machine.api().settleConflict({ ...of, by: 'ada' });
  const refusal = { code: 'conflict', message: expect.stringMatching(/locked\.txt: .*line 2[\s\S]*2 \| main/) };
  await expect(dropping).rejects.toMatchObject(refusal);
  await expect(machine.api().settleConflict({ ...of, by: 'ada', accept: ['another'] })).rejects.toMatchObject(refusal);
  const { losses } = await machine.api().conflict(of);
  expect(losses).toMatchObject([{ path: 'locked.txt', kind: 'lines', lines: [{ line: 2, text: 'main' }] }]);
  const accept = losses.map(({ content }) => content);
  const both = await Promise.allSettled([
    machine.api().settleConflict({ ...of, by: 'ada', accept }),
    machine.api().abortConflict({ ...of, by: 'bob' }),
  ]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const refused = both.find((each) => each.status === 'rejected');
  expect(refused?.reason).toMatchObject({ code: 'wrong_stage' });
  await machine.idle(root);
  const settled = await bed.eventsOf('conflict.settled');
  const isSettled = settled.length === 1;
  if (isSettled) expect(settled).toMatchObject([{ by: { name: 'ada' }, accepts: losses }]);
  expect(bed.read('locked.txt')).toBe(isSettled ? 'one\ntask 1\n' : 'one\nmain\ntask 1\n');
});
