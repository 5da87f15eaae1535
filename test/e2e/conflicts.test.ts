import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api, ConflictDetail, ConflictSummary, EventBody, LoggedEvent, TaskSummary } from '@tidemill/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { until } from '../support/until.ts';
import { TemporaryRepository } from './cli-repository.ts';

const MINUTE = 60_000;
const FILES = ['a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt'];

/** Adds a line to the files in its title, and ends on a sign of the test, so that the target can move before. */
const AGENT = `import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
const { task } = JSON.parse(readFileSync(0, 'utf8'));
const door = process.env.STAGE_DOOR;
for (const file of task.title.split(' ').slice(1)) appendFileSync(file, 'task ' + task.number + '\\n');
writeFileSync(door + '/begun-' + task.number, '');
while (!existsSync(door + '/go')) await delay(20);
console.log(JSON.stringify({ tidemill: 'result', outcome: 'pr_ready', summary: 'done' }));
`;

let machine: TidemillHome;
let repository: TemporaryRepository;
let root: string;
let door: string;

beforeEach(() => {
  machine = new TidemillHome({ USER: 'ada' });
  door = join(machine.home, 'door');
  mkdirSync(door);
  repository = new TemporaryRepository({
    'agent.mjs': AGENT,
    'locked.txt': 'one\n',
    ...Object.fromEntries(FILES.map((file) => [file, 'one\n'])),
  });
  root = repository.root;
  const where = JSON.stringify(door);
  const agent = `{ type: command, command: [node, agent.mjs], env: { STAGE_DOOR: ${where} }, writable: [${where}] }`;
  const gates = `gates:\n  - { name: no-markers, run: "! grep -rn '^<<<<<<<' *.txt" }\n`;
  repository.write({
    '.tidemill/config.yaml': `target: main\npipeline: quick\ncritical: [locked.txt]\nagents:\n  default: ${agent}\n${gates}`,
  });
  repository.git('add', '-A');
  repository.git('commit', '-q', '-m', 'config');
});
afterEach(async () => {
  await machine.close();
  repository.remove();
});

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const eventsOf = async (...types: EventBody['type'][]) =>
  (await machine.jsonLines<LoggedEvent>(['events', '--type', types.join(',')], root)).map(({ body }) => body);

/** A task whose files a person changes on the target while its agent is at work. Resolves when the conflict is recorded. */
async function conflictIn(...files: string[]) {
  await machine.json<TaskSummary>(['task', 'add', `Change ${files.join(' ')}`], root);
  const daemon = await machine.up(root);
  await until(() => existsSync(join(door, 'begun-1')));
  for (const file of files) writeFileSync(join(root, file), 'one\nmain\n');
  repository.git('commit', '-q', '-a', '-m', 'meanwhile');
  writeFileSync(join(door, 'go'), '');
  await machine.event('task.blocked');
  const [project] = await machine.api().projects({ root });
  return { daemon, of: { project: project!.id, task: '1' } };
}

test('a conflict in five files is listed, resolved by two people across a restart, settled and lands', {
  timeout: 4 * MINUTE,
}, async () => {
  const { daemon, of } = await conflictIn(...FILES);
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
  for (const file of FILES) expect(read(file)).toBe(text);
  expect(await machine.json<TaskSummary[]>(['task', 'list'], root)).toMatchObject([{ number: 1, stage: 'done' }]);
  expect(await machine.json<ConflictSummary[]>(['conflicts'], root)).toEqual([]);
  const who = await eventsOf('conflict.file_resolved', 'conflict.settled');
  expect(who.map((body) => ('by' in body ? body.by?.name : '')).sort()).toEqual(['ada', 'ada', 'ada', 'bob', 'bob']);
  await expect(machine.api().settleConflict({ ...of, by: 'ada' })).rejects.toMatchObject({ code: 'wrong_stage' });
  // The gates saw the resolved tree before it landed.
  const proof = await eventsOf('evidence.recorded', 'conflict.settled');
  expect(proof.findLastIndex(({ type }) => type === 'evidence.recorded')).toBeGreaterThan(
    proof.findIndex(({ type }) => type === 'conflict.settled'),
  );
});

test('an aborted conflict is kept in a snapshot, and its task starts again on the newest target', {
  timeout: 4 * MINUTE,
}, async () => {
  const { of } = await conflictIn('locked.txt');
  const detail = await machine.api().conflict(of);
  expect(detail).toMatchObject({ why: 'a file marked critical is among them', files: [{ path: 'locked.txt' }] });
  await machine.api().resolveFile({ ...of, path: 'locked.txt', resolution: { text: 'one\nhalf an idea\n' } });
  // It asks first, and there is no terminal.
  expect((await machine.run(['conflicts', 'abort', '1'], root)).code).not.toBe(0);
  const aborted = await machine.json<TaskSummary>(['conflicts', 'abort', '1', '--yes'], root);
  expect(aborted).toMatchObject({ number: 1, branch: `${detail.branch}.2`, blocked: null });
  await machine.idle(root);
  expect(read('locked.txt')).toBe('one\nmain\ntask 1\n');
  expect(await eventsOf('conflict.aborted')).toMatchObject([{ by: { name: 'ada' }, from: detail.branch }]);
  const kept = await machine.json<{ ref: string; why: string }[]>(['snapshots'], root);
  const ours = kept.find(({ why }) => why.includes('aborted by ada'));
  expect(repository.git('show', `${ours!.ref}:locked.txt`)).toBe('one\nhalf an idea');
  await until(() => !existsSync(detail.worktree));
  await until(() => repository.git('for-each-ref', 'refs/heads/task').trim() === '');
  expect((await machine.run(['conflicts'], root)).stdout).toContain('No conflicts');
});

test('settling and aborting at once: one succeeds, the other is refused', { timeout: 4 * MINUTE }, async () => {
  const { of } = await conflictIn('locked.txt');
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
  const settled = await eventsOf('conflict.settled');
  const isSettled = settled.length === 1;
  if (isSettled) expect(settled).toMatchObject([{ by: { name: 'ada' }, accepts: losses }]);
  expect(read('locked.txt')).toBe(isSettled ? 'one\ntask 1\n' : 'one\nmain\ntask 1\n');
});
