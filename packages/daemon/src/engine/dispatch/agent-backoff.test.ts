import type { Mode } from '@tidemill/contract';
import { afterEach, expect, it } from 'vitest';
import { EngineBed, quickAgent } from '../../../../../test/support/engine-bed.ts';
import type { Agent, AgentEnd } from '../../ports.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const accept = ['it works'];

let bed: EngineBed;
afterEach(() => bed.close());

/** Two entries of one vendor and one of another. `limit` says how the vendor refuses now; null: it works. */
async function open(limit: (now: number) => number | 'no time' | null): Promise<string[]> {
  const starts: string[] = [];
  bed = await EngineBed.open({ defaultPipeline: 'feature' }, (self) => {
    const works = quickAgent(() => self.repository);
    const entry = (label: string, account: string): Agent => ({
      label,
      account,
      start(request, sink) {
        starts.push(label);
        const retryAt = account === 'vendor' ? limit(self.clock.now()) : null;
        if (retryAt === null) return works.start(request, sink);
        const failed = { kind: 'failed', failure: 'rate_limit', message: 'usage limit', exitCode: 1 } as const;
        const end: AgentEnd = retryAt === 'no time' ? failed : { ...failed, retryAt };
        return { end: Promise.resolve(end), stop: async () => undefined };
      },
    });
    const entries: Partial<Record<Mode, Agent>> = { plan: entry('large', 'vendor'), review: entry('other', 'others') };
    const rest = entry('small', 'vendor');
    return { agentFor: (mode) => entries[mode] ?? rest, workers: 3, isOwnerDead: () => true };
  });
  return starts;
}

it("a usage limit holds every agent of the account until the vendor's time, also over a restart", async () => {
  const until = 5 * HOUR;
  let begin = 0;
  const starts = await open((now) => (now - begin < until ? begin + until : null));
  begin = bed.clock.now();
  await bed.add(1, { accept, pipeline: 'feature' });
  await bed.start();
  await bed.pass(MINUTE);
  // Another agent of the same account would build these.
  for (const number of [2, 3]) await bed.add(number, { accept, pipeline: 'quick' });
  await bed.pass(HOUR);
  expect(starts).toEqual(['large']);
  await bed.stop();
  await bed.start();
  await bed.add(4, { accept, pipeline: 'quick' });
  await bed.pass(3 * HOUR);
  expect(starts).toEqual(['large']);
  await bed.pass(3 * HOUR);
  for (const number of [1, 2, 3, 4]) expect((await bed.store.task(`task_${number}`))?.stage).toBe('done');
});

it('a vendor that names no time is tried less and less often', async () => {
  const starts = await open(() => 'no time');
  for (const number of [1, 2, 3, 4]) await bed.add(number, { accept });
  await bed.start();
  await bed.pass(2 * HOUR);
  expect(starts.length).toBeLessThan(40);
});
