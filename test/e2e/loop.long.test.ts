import { afterAll, expect, test } from 'vitest';
import { LoopHome } from '../support/loop-home.ts';

const MINUTE = 60_000;
const bed = new LoopHome();
const { machine, repository, root, loop, proposals } = bed;
afterAll(() => bed.close());

test('a daemon that is killed in each step of the loop loses and doubles nothing', {
  timeout: 4 * MINUTE,
}, async () => {
  let daemon = await machine.up(root);
  const restart = async () => {
    daemon.child.kill('SIGKILL');
    await daemon.ended;
    daemon = await machine.up(root);
  };
  await machine.run(['loop', 'on'], root);
  await machine.event('category.used');
  await restart();
  await machine.event('proposal.made');
  await restart();
  await machine.event('proposal.checked', ({ number }) => number === 3);
  await restart();
  const waiting = (await loop()).waiting.map(({ number, draft }) => [number, draft.title]);
  expect(waiting).toEqual([
    [1, 'Name the greeting once'],
    [2, 'Test the greeting of an empty name'],
    [3, 'Remove the old farewell function'],
  ]);
  await machine.json(['loop', 'approve', '1'], root);
  await restart();
  await machine.event('run.started', ({ mode }) => mode === 'implement');
  await restart();
  await machine.event('proposal.ended', ({ number, outcome }) => number === 1 && outcome === 'landed');
  await restart();
  expect(await machine.json<object[]>(['task', 'list'], root)).toMatchObject([{ number: 1, stage: 'done' }]);
  const subjects = repository.git('log', '--format=%s', 'main').split('\n');
  expect(subjects.filter((subject) => subject.includes('Name the greeting once'))).toHaveLength(1);
  const accepted = (await proposals()).filter(({ status }) => status === 'accepted');
  expect(accepted.map(({ number, outcome }) => [number, outcome])).toEqual([[1, 'landed']]);
  expect((await machine.run(['doctor'], root)).code).toBe(0);
});
