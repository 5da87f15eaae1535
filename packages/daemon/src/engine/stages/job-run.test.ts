import { afterEach, expect, it } from 'vitest';
import { EngineBed } from '../../../../../test/support/engine-bed.ts';
import { by, MINUTE } from '../../../../../test/support/merge-bed.ts';
import type { Agent } from '../../ports.ts';

let bed: EngineBed;
afterEach(() => bed.close());

it('the limit of an account that a job meets keeps other jobs from starting until its time', async () => {
  let starts = 0;
  const limited: Agent = {
    label: 'limited',
    start() {
      starts += 1;
      const retryAt = bed.clock.now() + 60 * MINUTE;
      const end = { kind: 'failed', failure: 'rate_limit', message: 'used up', exitCode: 1, retryAt } as const;
      return { end: Promise.resolve(end), stop: async () => undefined };
    },
  };
  bed = await EngineBed.open({}, () => ({ agentFor: () => limited }));
  await bed.start();
  const request = (jobId: string) =>
    bed.must({
      type: 'job.request',
      projectId: bed.projectId,
      subjectId: bed.projectId,
      jobId,
      mode: 'trial',
      input: '',
      by,
    });
  await request('job_1');
  await bed.pass(1 * MINUTE);
  await request('job_2');
  await bed.pass(50 * MINUTE);
  expect(starts).toBe(1);
  await bed.pass(20 * MINUTE);
  expect(starts).toBeGreaterThan(1);
});
