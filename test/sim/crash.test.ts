import { expect, it } from 'vitest';
import { simulate } from './simulation.ts';

it('survives a crash at every write of a story, before and after it takes effect', async () => {
  const calm = { crash: 0, delay: 0, duplicate: 0, lostHeartbeat: 0 };
  const story = { seed: 3, days: 0.06, tasksPerDay: 50 };
  const { writes, landed } = await simulate({ ...story, faults: calm });
  expect(landed).toBeGreaterThanOrEqual(3);
  for (let write = 1; write <= writes; write += 1) {
    for (const after of [false, true]) {
      const { broken } = await simulate({ ...story, faults: { ...calm, crashAt: { write, after } } });
      expect(broken, `crash at write ${write}, ${after ? 'after' : 'before'}`).toBeNull();
    }
  }
}, 600_000);
