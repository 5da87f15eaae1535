import { afterEach, describe, expect, it } from 'vitest';
import { quickAgent } from '../../../../../test/support/engine-bed.ts';
import { bed, gates, MINUTE, open, SECOND, stages, waiting } from '../../../../../test/support/merge-bed.ts';
import type { EngineDeps } from '../deps.ts';

afterEach(() => bed.close());

describe('a shared remote', { timeout: 60_000 }, () => {
  const shared = async (deps: Partial<EngineDeps> = {}) => {
    await open({ deps: { push: 'target', ...deps } });
    bed.repository.remote.tip = bed.repository.target;
  };
  const both = () => [bed.repository.remote.tip, bed.repository.target];

  it('gets each landing, and what others pushed meanwhile is taken in first and proven with it', async () => {
    await shared();
    await waiting(3);
    await bed.pass(5 * SECOND);
    // The gates run now: the push will be rejected.
    bed.repository.pushByPerson('theirs', 'one');
    await bed.pass(5 * MINUTE);
    expect(await stages()).toEqual(Array(3).fill('done'));
    const [remote, local] = both();
    expect(remote).toBe(local);
    expect(bed.repository.commits.get(local!)!.files.get('theirs')).toBe('one');
    expect(bed.repository.isAncestor(bed.repository.landed[0]!.id, remote!)).toBe(true);
  });

  it('is fetched before a worktree is opened: the agent sees what others pushed', async () => {
    const seen: (string | undefined)[] = [];
    await shared({
      agentFor: () => ({
        label: 'looking',
        start: (request, sink) => {
          seen.push(bed.repository.work(request.cwd)?.get('theirs'));
          return quickAgent(() => bed.repository).start(request, sink);
        },
      }),
    });
    bed.repository.pushByPerson('theirs', 'one');
    await bed.add(1);
    await bed.pass(2 * MINUTE);
    expect(seen).toEqual(['one']);
    expect(await stages()).toEqual(['done']);
  });

  it('that moves while commits here are not pushed costs no run of the gates beside those of the tasks', async () => {
    await shared();
    await waiting(3);
    bed.repository.commitByPerson('ours', 'one');
    bed.repository.pushByPerson('theirs', 'one');
    await bed.pass(25 * SECOND);
    expect(await stages()).toEqual(Array(3).fill('done'));
    const [remote, local] = both();
    expect(remote).toBe(local);
    // One proof of the batch, and one look at the target that others changed.
    expect(gates.runs.filter((files) => files !== '')).toEqual(['1 2 3']);
  });

  it('that is down holds nothing up; what landed is pushed later', async () => {
    await shared();
    bed.repository.remote.isDown = true;
    await bed.add(1);
    await bed.pass(3 * MINUTE);
    expect(await stages()).toEqual(['done']);
    expect(both()[0]).not.toBe(both()[1]);
    expect(await bed.alerts()).toContain('error push_failed');
    bed.repository.remote.isDown = false;
    await bed.pass(25 * MINUTE);
    expect(both()[0]).toBe(both()[1]);
    expect(await bed.alerts()).not.toContain('error push_failed');
  });

  it('that moved while it was down is merged, not rewritten', async () => {
    await shared();
    bed.repository.remote.isDown = true;
    await bed.add(1);
    await bed.pass(3 * MINUTE);
    const ours = bed.repository.target;
    bed.repository.pushByPerson('theirs', 'one');
    const theirs = bed.repository.remote.tip!;
    bed.repository.remote.isDown = false;
    await bed.pass(25 * MINUTE);
    const [remote, local] = both();
    expect(remote).toBe(local);
    expect([ours, theirs].every((commit) => bed.repository.isAncestor(commit, remote!))).toBe(true);
  });

  it('that was pushed by force stops merging until a person brings both together', async () => {
    await shared();
    await bed.add(1);
    await bed.pass(3 * MINUTE);
    bed.repository.pushByPerson('theirs', 'forced', true);
    const forced = bed.repository.remote.tip;
    await bed.add(2);
    await bed.pass(5 * MINUTE);
    expect(await stages()).toEqual(['done', 'merge']);
    expect(both()[0]).toBe(forced);
    expect(await bed.alerts()).toContain('error target_diverged');
    bed.repository.mergeByPerson();
    await bed.pass(5 * MINUTE);
    expect(await stages()).toEqual(['done', 'done']);
    expect(await bed.alerts()).not.toContain('error target_diverged');
  });

  it('from which somebody removed what had landed does not get it again unless a person pushes', async () => {
    await shared();
    await bed.add(1);
    await bed.pass(3 * MINUTE);
    const { remote, commits, landed } = bed.repository;
    const [back] = commits.get(landed[0]!.id)!.parents;
    remote.tip = back!;
    await bed.add(2);
    await bed.pass(30 * MINUTE);
    expect(await stages()).toEqual(['done', 'merge']);
    expect(remote.tip).toBe(back);
    expect(await bed.alerts()).toContain('error target_diverged');
    remote.tip = bed.repository.target;
    await bed.pass(5 * MINUTE);
    expect(await stages()).toEqual(['done', 'done']);
    expect(await bed.alerts()).toEqual([]);
  });

  it('that refuses the push lands nothing, says what to do, and is asked once a minute', async () => {
    let pushes = 0;
    await shared();
    bed.repository.pushTarget = async () => {
      pushes += 1;
      return { kind: 'refused', name: 'origin/main', why: 'protected branch' };
    };
    await bed.add(1);
    await bed.add(2);
    await bed.pass(6 * MINUTE);
    expect(await stages()).toEqual(['merge', 'merge']);
    expect(await bed.alerts()).toContain('error push_refused');
    expect(pushes).toBeLessThanOrEqual(7);
    const alert = (await bed.store.records({ noun: 'alert', projectId: bed.projectId })).find(
      ({ kind }) => kind === 'push_refused',
    );
    expect(alert?.text).toContain('set `push: branch`');
  });

  it('that accepts pushes again after a restart closes the alert', async () => {
    await shared();
    const { pushTarget } = bed.repository;
    bed.repository.pushTarget = async () => ({ kind: 'refused', name: 'origin/main', why: 'protected branch' });
    await bed.add(1);
    await bed.pass(3 * MINUTE);
    expect(await bed.alerts()).toContain('error push_refused');
    await bed.stop();
    bed.repository.pushTarget = pushTarget;
    await bed.start();
    await bed.pass(5 * MINUTE);
    expect(await stages()).toEqual(['done']);
    expect(await bed.alerts()).toEqual([]);
  });

  it('to which others push during every run of the gates gets the landing in a quiet moment; the inbox says so', async () => {
    await shared();
    const { run } = gates;
    let pushes = 0;
    gates.run = async (request) => {
      const reports = await run.call(gates, request);
      pushes += 1;
      bed.repository.pushByPerson('theirs', String(pushes));
      return reports;
    };
    await bed.add(1);
    await bed.pass(20 * MINUTE);
    expect(await stages()).toEqual(['merge']);
    const open = await bed.store.records({ noun: 'alert', projectId: bed.projectId, isOpen: true });
    expect(open.map(({ text }) => text).join()).toContain('origin/main got new commits 10 times while the gates ran');
    // Nobody needs to act: it is tried again, and until then the project is not idle.
    const seen = new Set<string>();
    for (let step = 0; step < 60; step += 1) {
      await bed.pass(5 * SECOND);
      const [task] = await bed.store.tasks({ projectId: bed.projectId });
      seen.add(task!.lease ? 'tried' : bed.engine.isPushing ? 'waits' : 'idle');
    }
    expect([...seen].sort()).toEqual(['tried', 'waits']);
    gates.run = run;
    await bed.pass(10 * MINUTE);
    expect(await stages()).toEqual(['done']);
    expect(bed.engine.isPushing).toBe(false);
    expect(await bed.alerts()).toEqual([]);
  });
});
