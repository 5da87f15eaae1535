import type { FailureClass } from '@tidemill/contract';
import { afterEach, describe, expect, it } from 'vitest';
import { SimGates } from '../../../../../test/sim/actors.ts';
import { Random } from '../../../../../test/sim/random.ts';
import { EngineBed, quickAgent } from '../../../../../test/support/engine-bed.ts';
import type { Agent, Outage, Prepared } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

const MINUTE = 60_000;
const accept = ['it works'];

let bed: EngineBed;
afterEach(() => bed.close());

async function open(change: (bed: EngineBed) => Partial<EngineDeps>): Promise<void> {
  bed = await EngineBed.open({}, (self) => ({ agentFor: () => quickAgent(() => self.repository), ...change(self) }));
}
const stage = async (number: number) => (await bed.store.task(`task_${number}`))?.stage;

describe('an alert that closes when its condition is over', { timeout: 60_000 }, () => {
  it('is raised once for a target that fails its gates, with the repair command, also over a restart', async () => {
    await open((self) => ({ gates: new SimGates(self.repository, self.clock, new Random(1), new Set()) }));
    bed.repository.commitByPerson('theirs', 'bug');
    await bed.add(1, { accept });
    await bed.start();
    await bed.pass(10 * MINUTE);
    expect(await bed.alerts()).toContain('error baseline_red test');
    const [alert] = (await bed.store.records({ noun: 'alert', isOpen: true })).filter(
      ({ kind }) => kind === 'baseline_red',
    );
    expect(alert?.text).toContain('tidemill task add "Repair main: test" --repairs test');
    await bed.stop();
    bed.repository.commitByPerson('theirs', 'mended');
    await bed.must({
      type: 'task.cancel',
      projectId: bed.projectId,
      taskId: 'task_1',
      by: { kind: 'person', id: 'ada', name: 'ada' },
    });
    await bed.start();
    await bed.pass(10 * MINUTE);
    expect(await bed.alerts()).not.toContain('error baseline_red test');
  });

  it('is raised for prepare steps that fail for everyone', async () => {
    let isBroken = true;
    const prepared = async (): Promise<Prepared> =>
      isBroken ? { kind: 'failed', text: 'no registry', isEnvironment: true } : { kind: 'ready' };
    const nothing = async () => undefined;
    const preparation = {
      worktree: prepared,
      checkout: prepared,
      checks: [],
      reads: async () => new Set<string>(),
      running: [],
      tidy: nothing,
      settled: nothing,
    };
    await open(() => ({ preparation }));
    await bed.add(1, { accept });
    await bed.start();
    await bed.pass(3 * MINUTE);
    expect(await bed.alerts()).toContain('error environment prepare');
    isBroken = false;
    await bed.pass(10 * MINUTE);
    expect(await stage(1)).toBe('done');
    expect(await bed.alerts()).not.toContain('error environment prepare');
  });

  it.each<['agent_auth' | 'agent_credit', FailureClass]>([
    ['agent_auth', 'auth'],
    ['agent_credit', 'credit'],
  ])('is %s when the agent needs a person', async (kind, failure) => {
    let isFixed = false;
    await open((self) => {
      const works = quickAgent(() => self.repository);
      const end = { kind: 'failed', failure, message: 'no', exitCode: 1 } as const;
      const agent: Agent = {
        label: 'vendor',
        start: (request, sink) =>
          isFixed ? works.start(request, sink) : { end: Promise.resolve(end), stop: async () => undefined },
      };
      return { agentFor: () => agent };
    });
    await bed.add(1, { accept });
    await bed.start();
    await bed.pass(5 * MINUTE);
    expect(await bed.alerts()).toContain(`error ${kind} vendor`);
    isFixed = true;
    await bed.pass(60 * MINUTE);
    expect(await stage(1)).toBe('done');
    expect(await bed.alerts()).not.toContain(`error ${kind} vendor`);
  });

  it.each<Outage['kind']>(['disk_full', 'repository_gone', 'target_gone', 'taken_over'])(
    'is %s while all work stops',
    async (kind) => {
      let outage: Outage | null = null;
      await open((self) => {
        self.repository.outage = async () => outage as never;
        return {};
      });
      await bed.start();
      await bed.pass(MINUTE);
      outage = { kind, text: 'Make space.' };
      await bed.add(1, { accept });
      await bed.pass(MINUTE);
      expect(await bed.alerts()).toContain(`error ${kind}`);
      // The next daemon finds that it is over.
      await bed.stop();
      outage = null;
      await bed.start();
      await bed.pass(10 * MINUTE);
      expect(await stage(1)).toBe('done');
      expect(await bed.alerts()).not.toContain(`error ${kind}`);
    },
  );

  it('is raised for a target that was reset before landed work', async () => {
    await open(() => ({}));
    const before = bed.repository.target;
    await bed.add(1, { accept });
    await bed.start();
    await bed.pass(10 * MINUTE);
    expect(await stage(1)).toBe('done');
    const landed = bed.repository.target;
    bed.repository.target = before;
    await bed.pass(2 * MINUTE);
    expect(await bed.alerts()).toContain(`error target_reset ${landed}`);
    bed.repository.target = landed;
    await bed.pass(2 * MINUTE);
    expect(await bed.alerts()).not.toContain(`error target_reset ${landed}`);
  });

  it('is raised for commits on the target whose evidence the store does not have', async () => {
    let unknown: { commit: string; evidence: string; at: number }[] = [];
    await open((self) => {
      self.repository.provenCommits = async () => unknown as [];
      return {};
    });
    await bed.start();
    unknown = [{ commit: 'c1', evidence: 'lost', at: bed.clock.now() + 1 }];
    await bed.pass(2 * MINUTE);
    expect(await bed.alerts()).toContain('error evidence_missing c1');
    unknown = [];
    await bed.pass(2 * MINUTE);
    expect(await bed.alerts()).not.toContain('error evidence_missing c1');
  });

  it('is raised for a branch that was deleted at the remote', async () => {
    await open(() => ({ push: 'target' }));
    bed.repository.fetchTarget = async () => ({ kind: 'gone', name: 'origin/main' });
    await bed.add(1, { accept });
    await bed.start();
    await bed.pass(10 * MINUTE);
    expect(await bed.alerts()).toContain('error remote_branch_gone');
    bed.repository.fetchTarget = async () => ({ kind: 'none' });
    await bed.pass(10 * MINUTE);
    expect(await bed.alerts()).not.toContain('error remote_branch_gone');
  });
});

it('an alert is raised when three quarters of the budget are spent', { timeout: 60_000 }, async () => {
  await open((self) => {
    const works = quickAgent(() => self.repository);
    const agent: Agent = {
      label: 'dear',
      start(request, sink) {
        sink.usage({ inputTokens: 1, outputTokens: 1, requests: 1, costUsd: 40 });
        return works.start(request, sink);
      },
    };
    return { agentFor: () => agent };
  });
  await bed.add(1, { accept });
  await bed.start();
  await bed.pass(5 * MINUTE);
  expect((await bed.alerts()).join()).toMatch(/warning budget_75 /);
});
