import { afterEach, describe, expect, it } from 'vitest';
import { bed, MINUTE, open, stages } from '../../../../../test/support/merge-bed.ts';
import type { EngineDeps } from '../deps.ts';

afterEach(() => bed.close());

describe('with push: branch', { timeout: 60_000 }, () => {
  const offered = async () => {
    await open({ deps: { push: 'branch' } });
    bed.repository.remote.tip = bed.repository.target;
    await bed.add(1);
    await bed.pass(2 * MINUTE);
    return bed.repository.remote.tip;
  };
  const task = async () => (await bed.store.task('task_1'))!;

  it('a proven task is pushed as a branch and waits, and the target stays as it is here and there', async () => {
    const before = await offered();
    const { stage, waiting, branch, offered: pushed } = await task();
    expect([stage, waiting]).toEqual([
      'merge',
      'It is pushed as origin/task/1-task-1. It is done when its pull request is merged.',
    ]);
    expect(bed.repository.remote.branches.get(branch)).toBe(pushed!.commit);
    expect([bed.repository.remote.tip, bed.repository.target]).toEqual([before, before]);
  });

  it('a task whose branch others squash into one commit of their own is done with that commit', async () => {
    await offered();
    bed.repository.pushByPerson('file-1', 'fine-1');
    const theirs = bed.repository.remote.tip;
    await bed.pass(2 * MINUTE);
    expect(await task()).toMatchObject({ stage: 'done', landedCommit: theirs });
    expect(bed.repository.target).toBe(theirs);
    expect((await bed.log('merge.landed')).length).toBe(1);
  });

  it('what was refused before is pushed as a branch after a restart, and the alert about the refusal is over', async () => {
    const deps: Partial<EngineDeps> = { push: 'target' };
    await open({ deps });
    bed.repository.remote.tip = bed.repository.target;
    bed.repository.pushTarget = async () => ({ kind: 'refused', name: 'origin/main', why: 'protected branch' });
    await bed.add(1);
    await bed.pass(2 * MINUTE);
    expect(await bed.alerts()).toContain('error push_refused');
    await bed.stop();
    deps.push = 'branch';
    await bed.start();
    await bed.pass(2 * MINUTE);
    expect((await task()).waiting).toContain('It is done when its pull request is merged.');
    expect(await bed.alerts()).toEqual([]);
  });

  it('a task that conflicts with what others pushed goes back to its agent', async () => {
    await offered();
    bed.repository.pushByPerson('file-1', 'theirs');
    await bed.pass(90_000);
    expect((await bed.log('merge.landed')).length).toBe(0);
    const back = (await bed.log('task.moved')).map(({ body }) => body.type === 'task.moved' && body.to);
    expect(back.slice(back.indexOf('merge') + 1)).toContain('implement');
  });

  it('a task whose branch the remote refuses waits and says why, a person is told, and it is pushed when the remote accepts it', async () => {
    await open({ deps: { push: 'branch' } });
    bed.repository.remote.tip = bed.repository.target;
    const pushBranch = bed.repository.pushBranch.bind(bed.repository);
    bed.repository.pushBranch = async (...args) => ({
      ...(await pushBranch(...args)),
      pushed: { kind: 'refused', name: 'origin/main', why: 'protected: it needs a pull request' },
    });
    await bed.add(1);
    await bed.pass(3 * MINUTE);
    expect(await stages()).toEqual(['merge']);
    const { waiting, branch, offered: pushed } = await task();
    expect(waiting).toBe(`The branch ${branch} could not be pushed: protected: it needs a pull request`);
    expect(pushed).toBeNull();
    expect(await bed.alerts()).toContainEqual(expect.stringContaining('landing_waits'));
    bed.repository.pushBranch = pushBranch;
    await bed.pass(10 * MINUTE);
    expect((await task()).waiting).toContain('It is done when its pull request is merged.');
  });
});
