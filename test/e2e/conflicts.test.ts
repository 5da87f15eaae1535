import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api, ConflictDetail, ConflictSummary, TaskSummary } from '@tidemill/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ConflictBed, FILES } from '../support/conflict-bed.ts';
import type { TidemillHome } from '../support/tidemill-home.ts';

const MINUTE = 60_000;

let bed: ConflictBed;
let machine: TidemillHome;
let root: string;

beforeEach(() => {
  bed = new ConflictBed();
  ({ machine, root } = bed);
});
afterEach(() => bed.close());

test('a conflict in five files is listed, resolved by two people across a restart, settled and lands', {
  timeout: 4 * MINUTE,
}, async () => {
  const { daemon, of } = await bed.conflictIn(...FILES);
  // In the list with the commit that blocked it; the command line shows the same.
  const [listed] = await machine.api().conflicts({ project: of.project });
  expect(listed).toMatchObject({ number: 1, status: 'pending', target: 'main', files: FILES });
  expect(listed!.why).toContain('5 files are too many');
  expect(await machine.json<ConflictSummary[]>(['conflicts'], root)).toEqual([listed]);
  const shown = await machine.run(['conflicts'], root);
  expect(shown.stdout).toMatch(/#1 +pending .*5 files/);

  const detail = await machine.json<ConflictDetail>(['conflicts', 'show', '1'], root);
  expect(detail.files.map(({ path }) => path)).toEqual(FILES);
  expect(detail.files[0]).toMatchObject({
    base: 'one\n',
    ours: 'one\ntask 1\n',
    theirs: 'one\nmain\n',
    hasMarkers: true,
  });
  expect(detail.commands[0]).toBe(`cd '${detail.worktree}'`);
  expect(detail.commands).toContain(`git add -- ${FILES.map((file) => `'${file}'`).join(' ')}`);
  expect(detail.commands.join('\n')).toContain('code --wait --merge');
  const unresolved = { code: 0, stderr: '', stdout: expect.stringContaining('markers left') };
  expect(await machine.run(['conflicts', 'show', '1'], root)).toEqual(unresolved);

  const tooEarly = await machine.run(['conflicts', 'settle', '1'], root);
  expect(tooEarly.code).not.toBe(0);
  for (const file of FILES) expect(tooEarly.stderr).toContain(file);

  const text = 'one\nmain\ntask 1\n';
  const resolve = (api: Api, path: string, by: string) => api.resolveFile({ ...of, by, path, resolution: { text } });
  const wrong = [
    resolve(machine.api(), '../outside.txt', 'eve'),
    resolve(machine.api(), '.git/config', 'eve'),
    machine.api().resolveFile({ ...of, by: 'eve', path: 'a.txt', resolution: { text: detail.files[0]!.current! } }),
  ];
  for (const each of wrong) await expect(each).rejects.toMatchObject({ code: 'bad_input' });
  await expect(machine.api().conflict({ ...of, task: '99' })).rejects.toMatchObject({ code: 'not_found' });
  await Promise.all([resolve(machine.api(), 'a.txt', 'ada'), resolve(machine.api(), 'b.txt', 'bob')]);
  expect(await machine.api().conflicts({ project: of.project })).toMatchObject([{ status: 'resolving' }]);

  process.kill(daemon.pid, 'SIGKILL');
  await daemon.ended;
  await machine.up(root);
  const after = await machine.api().conflict(of);
  expect(after.files.map(({ isResolved }) => isResolved)).toEqual([true, true, false, false, false]);
  expect(after.files[0]!.current).toBe(text);

  await Promise.all([resolve(machine.api(), 'c.txt', 'ada'), resolve(machine.api(), 'd.txt', 'bob')]);
  const half = machine.api().settleConflict({ ...of, by: 'ada' });
  await expect(half).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('e.txt') });
  // The last one with an editor, in the worktree.
  writeFileSync(join(detail.worktree, 'e.txt'), text);
  const settled = await machine.json<TaskSummary>(['conflicts', 'settle', '1'], root);
  expect(settled.blocked).toBeNull();
  await machine.idle(root);
  for (const file of FILES) expect(bed.read(file)).toBe(text);
  expect(await machine.json<TaskSummary[]>(['task', 'list'], root)).toMatchObject([{ number: 1, stage: 'done' }]);
  expect(await machine.json<ConflictSummary[]>(['conflicts'], root)).toEqual([]);
  const who = await bed.eventsOf('conflict.file_resolved', 'conflict.settled');
  expect(who.map((body) => ('by' in body ? body.by?.name : '')).sort()).toEqual(['ada', 'ada', 'ada', 'bob', 'bob']);
  await expect(machine.api().settleConflict({ ...of, by: 'ada' })).rejects.toMatchObject({ code: 'wrong_stage' });
  // The gates saw the resolved tree before it landed.
  const proof = await bed.eventsOf('evidence.recorded', 'conflict.settled');
  expect(proof.findLastIndex(({ type }) => type === 'evidence.recorded')).toBeGreaterThan(
    proof.findIndex(({ type }) => type === 'conflict.settled'),
  );
});
