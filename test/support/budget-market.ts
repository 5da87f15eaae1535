import {
  type Account,
  accountId,
  type EventBody,
  type ProjectRules,
  personActor,
  readUsage,
  UNKNOWN_REQUEST_USD,
  type Usage,
} from '@tidemill/contract';
import { expect } from 'vitest';
import { estimateOf, sizeOf } from '../../packages/core/src/budget/budget.ts';
import { Calendars } from '../../packages/core/src/budget/calendar.ts';
import { budgetAccountOf } from '../../packages/core/src/budget/period.ts';
import { Random } from '../sim/random.ts';
import { CommandWorld } from './command-world.ts';
import { defaultRules } from './mill.ts';

const calendars = new Calendars();

const PROJECTS = ['project_a', 'project_b', 'project_c'];
const WORKERS = 4;
export const HOUR = 3_600_000;
const ALL = accountId('all');

interface Running {
  projectId: string;
  subjectId: string;
  token: number;
  runId: string;
  /** As it was reported. */
  usage: Usage;
  /** The cost of requests that it has made and not reported yet. */
  untoldUsd: number;
  /** The engine stops it: it makes no more requests. */
  isStopped: boolean;
}

/** Lines that no honest agent prints. */
const NONSENSE: unknown[] = [
  ...[{ costUsd: 1e308 }, { costUsd: Number.POSITIVE_INFINITY }, { costUsd: Number.NaN }, { costUsd: -5 }],
  ...[{ costUsd: '3' }, { requests: 1e300 }, { requests: -1 }, { inputTokens: 0.5 }, { inputTokens: 2 ** 60 }, null, 7],
];

/** Many agents of several projects. The cost of the next request is unknown. */
export class Market {
  readonly world = new CommandWorld();
  readonly running: Running[] = [];
  readonly #random: Random;
  dispatched = 0;
  stopped = 0;
  /** How far a limit may be exceeded, by account, kind of period and limit. */
  readonly #most = new Map<string, number>();
  readonly #spent = new Map<string, number>();

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.world.now = Date.parse('2026-10-24T20:00:00Z');
    for (const projectId of PROJECTS) {
      this.world.must({
        type: 'project.register',
        projectId,
        name: projectId,
        root: `/${projectId}`,
        rules: this.#rules(),
      });
      for (let each = 0; each < WORKERS; each += 1) {
        const name = `agent-${each}`;
        this.world.must({
          type: 'worker.register',
          projectId,
          workerId: `${projectId}/${name}`,
          name,
          role: 'builder',
        });
        const blank = {
          body: '',
          kind: 'feature',
          accept: ['it works'],
          files: [],
          dependsOn: [],
          priority: 2,
        } as const;
        const task = { ...blank, accept: ['it works'], files: [], dependsOn: [], title: `Task ${each}` };
        this.world.must({ type: 'task.create', projectId, taskId: `${projectId}/task_${each}`, ...task });
      }
    }
  }

  #rules(): ProjectRules {
    const timeZone = this.#random.pick(['UTC', 'Europe/Berlin', 'America/New_York']);
    const [daily, monthly] = [this.#random.next(), this.#random.next()];
    return { ...defaultRules, budget: { dailyUsd: 5 + daily * 30, monthlyUsd: 60 + monthly * 300, timeZone } };
  }

  step(): void {
    const dice = this.#random.next();
    if (dice < 0.4) this.#start();
    else if (dice < 0.6) this.#request();
    else if (dice < 0.72) this.#report();
    else if (dice < 0.94) this.#end();
    else if (dice < 0.985) this.world.now += this.#random.int(2 * HOUR);
    else if (dice < 0.99) this.world.now += 24 * HOUR;
    else if (dice < 0.993) this.world.now -= 24 * HOUR;
    else this.#raise();
  }

  #accounts(projectId: string) {
    const project = this.world.projects.get(projectId)!;
    const record = (id: string) => this.world.records.get(id) as Account | undefined;
    return [
      budgetAccountOf(project, record(accountId(projectId)), this.world.now, calendars),
      budgetAccountOf(null, record(ALL), this.world.now, calendars),
    ];
  }

  #start(): void {
    const { world } = this;
    const projectId = this.#random.pick(PROJECTS);
    const busy = new Set([...world.tasks.values()].flatMap(({ lease }) => lease?.workerId ?? []));
    const workerId = [...world.workers.keys()].find((id) => id.startsWith(`${projectId}/`) && !busy.has(id));
    if (!workerId) return;
    const agents = this.#random.next() < 0.5 ? { plan: 'agent' } : undefined;
    const claim = { type: 'work.claim', projectId, workerId, role: 'builder', owner: 'd', window: 9, agents } as const;
    const claimed = world.execute(claim);
    if (!claimed.ok) return;
    const task = [...world.tasks.values()].find(({ lease }) => lease?.workerId === workerId)!;
    const fence = { projectId, subjectId: task.id, token: task.lease!.token };
    const runId = `run_${this.dispatched}`;
    const wanted = estimateOf(this.#accounts(projectId), 'agent', 'plan', sizeOf(task));
    if (!world.execute({ type: 'run.start', ...fence, runId, mode: 'plan', agent: 'agent' }).ok) {
      world.must({ type: 'stage.wait', ...fence, why: 'no money', untilMs: 0 });
      return;
    }
    this.dispatched += 1;
    expect(world.runs.get(runId)?.reservedUsd).toBe(wanted);
    for (const { account, limits } of this.#accounts(projectId)) {
      const promised = Object.values(account.reserved).reduce((sum, usd) => sum + usd, 0);
      expect(account.spentDayUsd + promised).toBeLessThanOrEqual(limits.dailyUsd + 1e-6);
      expect(account.spentMonthUsd + promised).toBeLessThanOrEqual(limits.monthlyUsd + 1e-6);
    }
    const usage = { inputTokens: 0, outputTokens: 0, requests: 0, costUsd: null };
    this.running.push({ ...fence, runId, usage, untoldUsd: 0, isStopped: false });
  }

  /** The cost of one more request: mostly little, sometimes a lot. */
  #cost(): number {
    return this.#random.next() ** 4 * 6;
  }

  /** Everything not reported yet; sometimes a duplicate, less than before, or nonsense. */
  #told(run: Running): Usage {
    const dice = this.#random.next();
    const costUsd = run.usage.costUsd ?? 0;
    if (dice < 0.05) return run.usage;
    if (dice < 0.1) return { ...run.usage, costUsd: costUsd * this.#random.next() };
    if (dice < 0.2) {
      const { requests } = readUsage(this.#random.pick(NONSENSE));
      return { ...run.usage, requests: run.usage.requests + requests, costUsd: costUsd + UNKNOWN_REQUEST_USD };
    }
    const usage = { ...run.usage, requests: run.usage.requests + 1, costUsd: costUsd + run.untoldUsd };
    run.untoldUsd = 0;
    return usage;
  }

  /** Books a run's report, and checks the result against the promise. */
  #book(run: Running, usage: Usage, book: () => EventBody[]): void {
    const moreUsd = Math.max(0, (usage.costUsd ?? 0) - (run.usage.costUsd ?? 0));
    run.usage = usage;
    this.#obey(run, book());
    for (const { account, limits } of this.#accounts(run.projectId)) {
      const promised = Object.values(account.reserved).reduce((sum, usd) => sum + usd, 0);
      for (const [period, spent, limit] of [
        ['day', account.spentDayUsd, limits.dailyUsd],
        ['month', account.spentMonthUsd, limits.monthlyUsd],
      ] as const) {
        expect(Number.isFinite(spent)).toBe(true);
        expect(promised, `${account.id} sets aside`).toBeLessThanOrEqual(Math.max(0, limit - spent) + 1e-6);
        const key = `${account.id} ${period} ${limit}`;
        // A new day begins at zero; a corrected clock keeps the figures.
        if (spent < (this.#spent.get(key) ?? 0) + moreUsd - 1e-6) this.#most.delete(key);
        this.#spent.set(key, spent);
        // The promise: at most the unreported requests of running agents exceed the limit.
        const payers = this.running.filter((each) => account.id === ALL || account.id === accountId(each.projectId));
        const untold = payers.reduce((sum, each) => sum + each.untoldUsd, moreUsd);
        // A limit that was raised to less than is already spent is exceeded from the start.
        const from = Math.max(limit, spent - moreUsd);
        if (spent > limit && !this.#most.has(key)) this.#most.set(key, from + untold);
        expect(spent, `${account.id} in ${period}`).toBeLessThanOrEqual((this.#most.get(key) ?? limit) + 1e-6);
      }
    }
  }

  /** The promise: every request starts before the limit is reached, so at most that one exceeds it. */
  #checkBefore(run: Running): void {
    for (const { account, limits } of this.#accounts(run.projectId)) {
      expect(account.spentDayUsd, `${account.id} in a day`).toBeLessThan(limits.dailyUsd);
      expect(account.spentMonthUsd, `${account.id} in a month`).toBeLessThan(limits.monthlyUsd);
    }
  }

  #request(): void {
    const able = this.running.filter((run) => !run.isStopped);
    if (able.length === 0) return;
    const run = this.#random.pick(able);
    this.#checkBefore(run);
    run.untoldUsd += this.#cost();
    // Most report immediately, others at a random time.
    if (this.#random.next() < 0.6) this.#report(run);
  }

  #report(run?: Running): void {
    const able = this.running.filter((each) => !each.isStopped);
    const teller = run ?? (able.length > 0 ? this.#random.pick(able) : undefined);
    if (!teller) return;
    const usage = this.#told(teller);
    const { projectId, subjectId, token, runId } = teller;
    this.#book(teller, usage, () => this.world.must({ type: 'run.spend', projectId, subjectId, token, runId, usage }));
  }

  #obey(run: Running, events: EventBody[]): void {
    for (const event of events) {
      if (event.type === 'run.overdrawn') run.isStopped = true;
      if (event.type !== 'budget.threshold_reached' || event.threshold !== 100) continue;
      for (const other of this.running)
        if (event.accountId === ALL || event.accountId === accountId(other.projectId)) other.isStopped = true;
      this.stopped += 1;
    }
  }

  #end(): void {
    const { world } = this;
    const index = this.#random.int(this.running.length);
    const [run] = this.running.splice(index, 1);
    if (!run) return;
    const { projectId, subjectId: taskId, token, runId } = run;
    const fence = { projectId, subjectId: taskId, token };
    const way = this.#random.int(7);
    if (way === 0) world.must({ type: 'lease.expire', ...fence, ownerIsDead: true });
    else if (way === 1) world.must({ type: 'lease.release', ...fence, why: 'x' });
    else if (way === 2) world.must({ type: 'stage.wait', ...fence, why: 'x', untilMs: 0 });
    else if (way === 3)
      world.must({ type: 'lease.take', projectId, subjectId: taskId, by: personActor('ada'), why: 'x' });
    else if (way === 4) {
      world.must({ type: 'task.cancel', projectId, taskId, by: personActor('ada') });
      world.must({ type: 'task.retry', projectId, taskId, by: personActor('ada'), stage: 'open' });
    } else {
      // The end may report the last request, and what a stopped run had not reported yet.
      const isAble = !run.isStopped && way === 5;
      if (isAble) this.#checkBefore(run);
      const untold = run.untoldUsd + (isAble ? this.#cost() : 0);
      const usage = { ...run.usage, costUsd: (run.usage.costUsd ?? 0) + untold };
      const end =
        way === 5
          ? ({ outcome: 'failed', failure: 'rate_limit', envelope: null, retryAt: world.now } as const)
          : ({ outcome: 'plan_complete', envelope: { outcome: 'plan_complete', summary: '', plan: 'x' } } as const);
      this.#book(run, usage, () => world.must({ type: 'run.finish', ...fence, runId, ...end, usage }));
      world.must({ type: 'task.retry', projectId, taskId, by: personActor('ada'), stage: 'plan' });
    }
    expect(world.runs.get(runId)?.status).toBe('finished');
    for (const owner of [...PROJECTS, 'all']) {
      const account = world.records.get(accountId(owner)) as Account | undefined;
      expect(Object.keys(account?.reserved ?? {})).not.toContain(runId);
    }
  }

  #raise(): void {
    const projectId = this.#random.pick(PROJECTS);
    if (this.#random.next() < 0.5) {
      const project = this.world.projects.get(projectId)!;
      const { budget } = project.rules;
      const more = { ...budget, dailyUsd: budget.dailyUsd * 1.2, monthlyUsd: budget.monthlyUsd * 1.2 };
      this.world.must({ type: 'project.configure', projectId, rules: { ...project.rules, budget: more } });
    } else {
      const [, { limits }] = this.#accounts(projectId) as [unknown, ReturnType<typeof budgetAccountOf>];
      const more = { dailyUsd: limits.dailyUsd * 1.1, monthlyUsd: limits.monthlyUsd * 1.1 };
      const command = { projectId, accountId: ALL, limits: more, timeZone: limits.timeZone, by: personActor('ada') };
      this.world.must({ type: 'budget.limit', ...command });
    }
  }

  endAll(): void {
    while (this.running.length > 0) this.#end();
    for (const owner of [...PROJECTS, 'all'])
      expect((this.world.records.get(accountId(owner)) as Account | undefined)?.reserved ?? {}).toEqual({});
  }
}
