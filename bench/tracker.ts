import { hash } from 'node:crypto';
import type { Task } from '@tidemill/contract';
import { createIds, systemClock } from '../packages/daemon/src/clock.ts';
import type { EngineDeps } from '../packages/daemon/src/engine/deps.ts';
import { ReactorHost } from '../packages/daemon/src/engine/reactors/host.ts';
import { EngineTracker } from '../packages/daemon/src/engine/tracker/tracker-work.ts';
import type { Store } from '../packages/daemon/src/ports.ts';
import { openStore } from '../packages/daemon/src/store/open.ts';
import { GithubTrackerBed } from '../test/support/github-tracker-bed.ts';
import { defaultRules } from '../test/support/mill.ts';
import { type BenchOptions, sized } from './options.ts';
import { row, type Section } from './row.ts';

const ISSUES = 1000;
const projectId = 'project_1';

/** Issues of an emulated GitHub that become tasks: how many requests that takes, and how soon a label is seen. */
export async function run(options: BenchOptions): Promise<Section> {
  const bed = await GithubTrackerBed.start();
  const { github } = bed;
  const people = ['ada', 'bob', 'mill-bot'] as const;
  for (let n = 0; n < ISSUES; n += 1) {
    const labels = ['agent', ...(n % 3 ? [] : ['bug'])];
    const body = `Do the ${n}th thing.\n\n- [ ] it is done\n- [ ] it is tested`;
    const number = await github.as(people[n % 3]!).openIssue(`Issue ${n}`, body, { labels });
    if (n % 20 === 19) github.issues.block(number, number - 1);
  }
  const store = await openStore({ url: 'memory:', clock: systemClock, ids: createIds(systemClock) });
  const engine = await engineOf(store, bed, sized(options, 20_000, 5_000));
  const first = await counted(bed, () => engine.tracker.sync());
  const tasks = await store.tasks({ projectId });
  if (tasks.length !== ISSUES) throw new Error(`${tasks.length} of ${ISSUES} issues became tasks`);
  const settling = await counted(bed, () => engine.tracker.sync());
  const unchanged = await counted(bed, () => engine.tracker.sync());

  const stop = await engine.start();
  await seen(
    store,
    'warm',
    () => label(bed, 'warm'),
    () => engine.tracker.wake(),
  );
  const byWebhook = await seen(
    store,
    'woken',
    () => label(bed, 'woken'),
    () => engine.tracker.wake(),
  );
  const byPolling = await seen(
    store,
    'polled',
    () => label(bed, 'polled'),
    () => undefined,
  );
  await stop();
  await store.close();
  await bed.close();
  return {
    name: 'tracker',
    title: 'Issues of GitHub',
    rows: [
      row({ name: `requests for the first pass over ${ISSUES} issues`, ...first, target: { atMost: 20 } }),
      row({ name: 'requests for the second pass', ...settling, target: { atMost: 3 } }),
      row({ name: 'requests for an unchanged pass', ...unchanged, target: { atMost: 3 } }),
      row({ name: `read ${ISSUES} issues and make tasks`, value: first.ms, unit: 'ms' }),
      row({ name: 'a label on GitHub is seen, by a webhook', value: byWebhook, unit: 'ms', target: { atMost: 1000 } }),
      row({
        name: 'a label on GitHub is seen, by polling',
        value: byPolling / 1000,
        unit: 's',
        target: { atMost: 30 },
      }),
    ],
    notes: [
      'An emulated GitHub on loopback counts the requests, with 304 answers. Three authors; every 20th issue is blocked.',
      ...(options.quick ? ['With --quick it polls every 5 s, otherwise every 20 s.'] : []),
    ],
  };
}

async function engineOf(store: Store, bed: GithubTrackerBed, pollMs: number) {
  const rules = { ...defaultRules, defaultPipeline: 'quick' };
  await store.execute({ type: 'project.register', projectId, name: 'mill', root: '/mill', rules });
  const followed = { trust: 'push' as const, pollMs, offersProposals: true, closes: true };
  const deps = {
    ...{ store, clock: systemClock, ids: createIds(systemClock), project: (await store.project(projectId))! },
    ...{ host: 'bench', hash: (text: string) => hash('sha256', text), onNote: () => undefined },
    tracker: { tracker: bed.open({ labels: ['agent'] }), ...followed },
  } as Partial<EngineDeps> as EngineDeps;
  const tracker = new EngineTracker(deps);
  return {
    tracker,
    async start() {
      const host = new ReactorHost({ store, clock: systemClock, onNote: () => undefined });
      const reactors = tracker.reactors();
      const after = await store.lastSeq();
      tracker.running(
        reactors.map((reactor) => host.add(reactor, after)),
        reactors,
      );
      return () => host.stop();
    },
  };
}

async function counted({ github }: GithubTrackerBed, work: () => Promise<void>) {
  github.log.length = 0;
  const from = performance.now();
  await work();
  return { value: github.log.length, unit: 'requests', ms: performance.now() - from };
}

async function label({ github }: GithubTrackerBed, title: string): Promise<void> {
  const number = await github.as('ada').openIssue(title, '- [ ] x');
  await github.as('ada').label(number, 'agent');
}

/** Milliseconds until the task is there. */
async function seen(store: Store, title: string, act: () => Promise<void>, wake: () => void): Promise<number> {
  await act();
  const from = performance.now();
  wake();
  for (;;) {
    const found: Task[] = await store.tasks({ projectId, search: title });
    if (found.length > 0) return performance.now() - from;
    await systemClock.sleep(5);
  }
}
