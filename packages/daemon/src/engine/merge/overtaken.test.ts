import { isBuilding } from '@tidemill/contract';
import { afterEach, expect, it } from 'vitest';
import { linesOf, resolve } from '../../../../../test/sim/merge-losses.ts';
import { EngineBed, quickAgent } from '../../../../../test/support/engine-bed.ts';
import { MINUTE } from '../../../../../test/support/merge-bed.ts';
import type { Agent } from '../../ports.ts';

let bed: EngineBed;
afterEach(() => bed.close());
const task = (number: number) => bed.store.task(`task_${number}`);

/** Adds its task's line to a file that all of them change, and keeps both sides of a conflict. Task 1 takes ten minutes. */
const adding = (agent: Agent): Agent => ({
  label: 'adding',
  start(request, hooks) {
    const { brief, cwd } = request;
    const stopped = new AbortController();
    const { end } = agent.start(request, hooks);
    const { number } = brief.task!;
    const write = async () => {
      await bed.clock.sleep(number === 1 ? 10 * MINUTE : MINUTE, stopped.signal);
      const work = isBuilding(brief.mode) ? bed.repository.work(cwd) : undefined;
      const text = work?.get('common') ?? '';
      if (text.includes('<<<')) work!.set('common', resolve(text, true));
      const lines = linesOf(work ?? new Map(), 'common');
      work?.set('common', [...new Set([...lines, `line-${number}-a`])].join('\n'));
      return end;
    };
    return { end: write(), stop: async () => stopped.abort() };
  },
});

it('a landing lets a task go first whose resolution was overtaken and which it would overtake again', async () => {
  bed = await EngineBed.open({}, (of) => ({ agentFor: () => adding(quickAgent(() => of.repository)) }));
  bed.repository.commitByPerson('common', 'first');
  await bed.start();
  await bed.add(1);
  // Twice, while its agent works, a person adds a line of the same place.
  for (const line of ['person-1', 'person-2']) {
    await bed.pass(8 * MINUTE);
    bed.repository.addLineByPerson('common', line);
    await bed.pass(5 * MINUTE);
  }
  expect(await task(1)).toMatchObject({ stage: 'implement', conflicts: { resolved: 1 } });
  await bed.add(2);
  await bed.pass(5 * MINUTE);
  expect(await task(2)).toMatchObject({ stage: 'merge', forecast: [{ taskId: 'task_1' }] });
  await bed.pass(60 * MINUTE);
  const landed = bed.repository.landed.map(({ message }) => /Task: #(\d+)/.exec(message)?.[1]);
  expect(landed).toEqual(['1', '2']);
  expect(await task(1)).toMatchObject({ stage: 'done', conflicts: { resolved: 1 } });
  const waits = (await bed.log('task.waiting')).map(({ body }) => (body.type === 'task.waiting' ? body.why : ''));
  expect(waits).toContain('#1 resolves a conflict again (1 of its resolutions were overtaken), so it lands first');
});
