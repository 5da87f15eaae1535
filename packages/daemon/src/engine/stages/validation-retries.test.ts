import { afterEach, expect, it } from 'vitest';
import { EngineBed } from '../../../../../test/support/engine-bed.ts';

let bed: EngineBed;
afterEach(() => bed.close());

it.each([
  ['once', 1],
  ['never', 0],
])('gates that fail send the agent back within a run %s, if maxValidationRetries says so', async (_, most) => {
  let starts = 0;
  bed = await EngineBed.open({ maxValidationRetries: most }, (self) => ({
    workers: 1,
    agentFor: () => ({
      label: 'careless',
      start({ cwd }) {
        starts += 1;
        self.repository.work(cwd)?.set(`file-${starts}`, 'bug');
        const envelope = { outcome: 'pr_ready', summary: 'done' } as const;
        return { end: Promise.resolve({ kind: 'result', envelope }), stop: async () => undefined };
      },
    }),
  }));
  await bed.add(1);
  await bed.start();
  for (let minutes = 0; (await bed.log('run.finished')).length === 0 && minutes < 100; minutes += 1)
    await bed.pass(60_000);
  const [first] = await bed.store.runs('task_1');
  expect(first).toMatchObject({ failure: 'validation', validationRetries: most });
});

it('an agent that wants to stop hears of a single gate that fails, and nothing once it passes', async () => {
  const heard: (string | null)[] = [];
  bed = await EngineBed.open({}, (self) => ({
    workers: 1,
    agentFor: () => ({
      label: 'asking',
      start({ cwd, beforeStop }) {
        const work = async () => {
          for (const text of ['bug', 'fine']) {
            self.repository.work(cwd)?.set('file-1', text);
            heard.push(await beforeStop());
          }
          return { kind: 'result', envelope: { outcome: 'pr_ready', summary: 'done' } } as const;
        };
        return { end: work(), stop: async () => undefined };
      },
    }),
  }));
  await bed.add(1);
  await bed.start();
  for (let minutes = 0; (await bed.log('run.finished')).length === 0 && minutes < 100; minutes += 1)
    await bed.pass(60_000);
  expect(heard).toEqual([expect.stringMatching(/^Gate \w+ fails:/), null]);
  expect(heard[0]!.match(/^Gate /gm)).toHaveLength(1);
});
