import { afterAll, beforeAll, expect, test } from 'vitest';
import { OfflineBed } from '../../../../../test/support/offline-bed.ts';
import { answerHook } from '../../hooks/hook-answer.ts';

let bed: OfflineBed;
beforeAll(async () => {
  bed = await OfflineBed.open();
});
afterAll(() => bed.close());

test('a person lets one call of their own session pass a built-in guard, and it is recorded', async () => {
  const { api, project, repository, env } = bed;
  const hook = async () => {
    const call = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'cat .env' } };
    return (await answerHook(JSON.stringify({ ...call, cwd: repository.root }), env)).exitCode;
  };
  expect(await hook()).toBe(2);
  const about = { project, by: 'ada', why: 'it has no keys' };
  expect(await api.bypassGuard({ ...about, guard: 'secrets' })).toEqual({ name: 'secrets' });
  expect([await hook(), await hook()]).toEqual([0, 2]);
  expect((await api.traces({ project, type: 'approval' })).traces).toMatchObject([
    { what: 'Let one call pass the guard secrets' },
  ]);
  await expect(api.bypassGuard({ ...about, guard: 'untouchable' })).rejects.toThrow('the guard untouchable is final');
  await expect(api.bypassGuard({ ...about, guard: 'nothing' })).rejects.toThrow('there is no guard nothing');
});
