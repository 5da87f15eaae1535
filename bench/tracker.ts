import { hash } from 'node:crypto';
import { createIds, systemClock } from '../packages/daemon/src/clock.ts';
import type { EngineDeps } from '../packages/daemon/src/engine/deps.ts';
import { EngineTracker } from '../packages/daemon/src/engine/tracker/tracker-work.ts';
import type { Store } from '../packages/daemon/src/ports.ts';
import { openStore } from '../packages/daemon/src/store/open.ts';
import type { EmulatedGithub } from '../test/support/github/emulated-github.ts';
import { GithubTrackerBed } from '../test/support/github-tracker-bed.ts';
import { defaultRules } from '../test/support/mill.ts';
import { type BenchOptions, sized } from './options.ts';
import { row, type Section } from './row.ts';
import { labelSeen } from './tracker-hook.ts';

const ISSUES = 1000;
const projectId = 'project_1';

/** Issues of an emulated GitHub that become tasks: how many requests that takes, and how soon a label is seen. */
export async function run(options: BenchOptions): Promise<Section> {
  const bed = await GithubTrackerBed.start();
  await fill(bed.github);
  const store = await openStore({ url: 'memory:', clock: systemClock, ids: createIds(systemClock) });
  const pollMs = sized(options, 20_000, 5_000);
  const tracker = await trackerOf(store, bed, pollMs);
  const first = await counted(bed, () => tracker.sync());
  const tasks = await store.tasks({ projectId });
  if (tasks.length !== ISSUES) throw new Error(`${tasks.length} of ${ISSUES} issues became tasks`);
  const settling = await counted(bed, () => tracker.sync());
  const unchanged = await counted(bed, () => tracker.sync());
  await store.close();
  await bed.close();
  const { byWebhookMs, byPollingMs } = await labelSeen(fill, pollMs);
  return {
    name: 'tracker',
    title: 'Issues of GitHub',
    rows: [
      row({ name: `requests for the first pass over ${ISSUES} issues`, ...first, target: { atMost: 20 } }),
      row({ name: 'requests for the second pass', ...settling, target: { atMost: 3 } }),
      row({ name: 'requests for an unchanged pass', ...unchanged, target: { atMost: 3 } }),
      row({ name: `read ${ISSUES} issues and make tasks`, value: first.ms, unit: 'ms' }),
      row({ name: 'a label is a task, by a webhook', value: byWebhookMs, unit: 'ms', target: { atMost: 1000 } }),
      row({ name: 'a label is a task, by polling', value: byPollingMs / 1000, unit: 's', target: { atMost: 30 } }),
    ],
    notes: [
      'An emulated GitHub on loopback counts the requests, with 304 answers. Three authors; every 20th issue is blocked.',
      'The last two are of the real program: from the sending of the signed webhook, or from the label, until its API shows the task.',
      ...(options.quick ? ['With --quick it polls every 5 s, otherwise every 20 s.'] : []),
    ],
  };
}

async function fill(github: EmulatedGithub): Promise<number> {
  const people = ['ada', 'bob', 'mill-bot'] as const;
  for (let n = 0; n < ISSUES; n += 1) {
    const labels = ['agent', ...(n % 3 ? [] : ['bug'])];
    const body = `Do the ${n}th thing.\n\n- [ ] it is done\n- [ ] it is tested`;
    const number = await github.as(people[n % 3]!).openIssue(`Issue ${n}`, body, { labels });
    if (n % 20 === 19) github.issues.block(number, number - 1);
  }
  return ISSUES;
}

async function trackerOf(store: Store, bed: GithubTrackerBed, pollMs: number): Promise<EngineTracker> {
  const rules = { ...defaultRules, defaultPipeline: 'quick' };
  await store.execute({ type: 'project.register', projectId, name: 'mill', root: '/mill', rules });
  const followed = { trust: 'push' as const, pollMs, offersProposals: true, closes: true };
  return new EngineTracker({
    ...{ store, clock: systemClock, ids: createIds(systemClock), project: (await store.project(projectId))! },
    ...{ host: 'bench', hash: (text: string) => hash('sha256', text), onNote: () => undefined },
    tracker: { tracker: bed.open({ labels: ['agent'] }), ...followed },
  } as Partial<EngineDeps> as EngineDeps);
}

async function counted({ github }: GithubTrackerBed, work: () => Promise<void>) {
  github.log.length = 0;
  const from = performance.now();
  await work();
  return { value: github.log.length, unit: 'requests', ms: performance.now() - from };
}
