import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EngineBed, quickAgent } from '../../../../../test/support/engine-bed.ts';
import { MINUTE } from '../../../../../test/support/merge-bed.ts';

let bed: EngineBed;
afterEach(() => bed.close());

const task = async () => (await bed.store.task('task_1'))!;
const sentBack = async () =>
  (await bed.log('task.feedback_given')).flatMap(({ body }) =>
    body.type === 'task.feedback_given' ? body.feedback.map(({ kind, files }) => ({ kind, files })) : [],
  );

describe('work that was built on a target that fails its gates', () => {
  beforeEach(async () => {
    bed = await EngineBed.open({}, (of) => ({ agentFor: () => quickAgent(() => of.repository) }));
    bed.repository.commitByPerson('theirs', 'bug');
    await bed.start();
    await bed.add(1);
    await bed.pass(10 * MINUTE);
  });

  it('waits, takes in the mended target, and lands without another run of its agent', async () => {
    expect(await task()).toMatchObject({ stage: 'verify' });
    bed.repository.commitByPerson('theirs', 'mended');
    await bed.pass(10 * MINUTE);
    expect(await task()).toMatchObject({ stage: 'done' });
    expect(await sentBack()).toEqual([]);
    expect(await bed.store.runs('task_1')).toHaveLength(1);
  });

  it('goes back to its agent if it conflicts with the mended target, and not before that target passes', async () => {
    bed.repository.commitByPerson('file-1', 'of a person');
    await bed.pass(10 * MINUTE);
    expect(await task()).toMatchObject({ stage: 'verify' });
    expect(await sentBack()).toEqual([]);
    bed.repository.commitByPerson('theirs', 'mended');
    await bed.pass(20 * MINUTE);
    expect(await sentBack()).toEqual([{ kind: 'conflict', files: ['file-1'] }]);
    expect((await bed.store.runs('task_1')).length).toBeGreaterThan(1);
  });
});
