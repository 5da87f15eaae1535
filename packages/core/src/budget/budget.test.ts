import {
  accountId,
  type EventBody,
  MAX_COUNT,
  MAX_USD,
  personActor,
  UNKNOWN_REQUEST_USD,
  type Usage,
} from '@tidemill/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultRules, Mill, typesOf } from '../../../../test/support/mill.ts';
import { Calendars } from './calendar.ts';
import { budgetAccountOf } from './period.ts';
import { viewAccount } from './view.ts';

const calendars = new Calendars();
const projectId = 'project_1';
const usage = (costUsd: number | null): Usage => ({ inputTokens: 1, outputTokens: 1, requests: 1, costUsd });
const world = (dailyUsd = 10, monthlyUsd = 100) => {
  const mill = new Mill({ budget: { dailyUsd, monthlyUsd, timeZone: 'UTC' } });
  mill.now = Date.parse('2026-11-16T08:00:00Z');
  return mill;
};
const own = (mill: Mill) =>
  mill.records.get(accountId(projectId)) as Extract<ReturnType<typeof mill.records.get>, { noun: 'account' }>;
const thresholds = (events: EventBody[]) =>
  events.flatMap((event) => (event.type === 'budget.threshold_reached' ? [`${event.period} ${event.threshold}`] : []));
const claimWith = (agent: string) => ({ plan: agent, implement: agent, review: agent });

describe('a run’s reservation', () => {
  it('is made at its start, reduced by its spending, and removed at its end', () => {
    const mill = world();
    const id = mill.add();
    const { fence, runId } = mill.startRun(id);
    expect(own(mill).reserved).toEqual({ [runId]: 0.5 });
    mill.must({ type: 'run.spend', ...fence, runId, usage: usage(0.3) });
    expect(own(mill)).toMatchObject({ spentDayUsd: 0.3, spentMonthUsd: 0.3 });
    expect(own(mill).reserved[runId]).toBeCloseTo(0.2);
    mill.must({ type: 'lease.release', ...fence, why: 'shutdown' });
    expect(own(mill)).toMatchObject({ spentDayUsd: 0.3, reserved: {} });
  });

  it('is removed however the run ended', () => {
    const mill = world();
    const id = mill.add();
    const taskId = id;
    const ends: ((fence: ReturnType<Mill['take']>, runId: string) => void)[] = [
      (fence) => mill.must({ type: 'lease.expire', ...fence, ownerIsDead: true }),
      (fence) => mill.must({ type: 'stage.wait', ...fence, why: 'x', untilMs: 0 }),
      () => mill.must({ type: 'lease.take', projectId, subjectId: taskId, by: personActor('ada'), why: 'x' }),
      (fence, runId) => {
        const end = { outcome: 'failed', failure: 'rate_limit', envelope: null, retryAt: mill.now } as const;
        mill.must({ type: 'run.finish', ...fence, runId, ...end, usage: usage(0.1) });
      },
      () => {
        mill.must({ type: 'task.cancel', projectId, taskId, by: personActor('ada') });
        mill.must({ type: 'task.retry', projectId, taskId, by: personActor('ada') });
      },
      (fence) => {
        mill.now += 9 * 3_600_000;
        mill.must({ type: 'lease.renew', ...fence });
      },
    ];
    let spent = 0;
    for (const end of ends) {
      const { fence, runId } = mill.startRun(id);
      mill.must({ type: 'run.spend', ...fence, runId, usage: usage(0.1) });
      spent += 0.1;
      expect(Object.keys(own(mill).reserved)).toEqual([runId]);
      end(fence, runId);
      expect(own(mill).reserved).toEqual({});
      // If the accounts were not loaded, the command would create new ones.
      expect(own(mill).spentMonthUsd).toBeCloseTo(spent);
      mill.now += 60_000;
    }
  });

  it('follows the cost of similar runs, by agent, mode and size', () => {
    const mill = world(50);
    for (const cost of [2, 2]) {
      const id = mill.add();
      const { fence, runId } = mill.startRun(id);
      const envelope = { outcome: 'plan_complete', summary: 'x', plan: 'y' } as const;
      const end = { outcome: 'plan_complete', envelope, usage: usage(cost) } as const;
      mill.must({ type: 'run.finish', ...fence, runId, ...end });
      mill.must({ type: 'task.cancel', projectId, taskId: id, by: personActor('ada') });
    }
    const { runId, fence } = mill.startRun(mill.add());
    expect(mill.runs.get(runId)?.reservedUsd).toBe(3);
    mill.must({ type: 'task.cancel', projectId, taskId: fence.subjectId, by: personActor('ada') });
    expect(mill.runs.get(mill.startRun(mill.add({ body: 'x'.repeat(20_000) })).runId)?.reservedUsd).toBe(0.5);
  });

  it('is refused when it exceeds the budget, and so is a claim that names the agent', () => {
    const mill = world(1.2);
    mill.add();
    mill.add();
    mill.add();
    const { fence } = mill.startRun('task_1');
    const second = mill.claim('agent-2');
    expect(typesOf(second)).toContain('lease.claimed');
    const { token } = mill.task('task_2').lease!;
    const start = {
      type: 'run.start',
      projectId,
      subjectId: 'task_2',
      token,
      runId: 'run_9',
      mode: 'plan',
      agent: 'a',
    } as const;
    mill.must(start);
    mill.must({ type: 'worker.register', projectId, workerId: 'agent-3', name: 'agent-3', role: 'builder' });
    const claim = {
      type: 'work.claim',
      projectId,
      workerId: 'agent-3',
      role: 'builder',
      owner: 'd',
      window: 9,
    } as const;
    expect(mill.refusal({ ...claim, agents: claimWith('a') })).toBe('budget_exhausted');
    expect(mill.refusal(claim)).toBeNull();
    const third = { ...start, subjectId: 'task_3', token: mill.task('task_3').lease!.token, runId: 'run_10' };
    expect(mill.refusal(third)).toBe('budget_exhausted');
    mill.must({ type: 'lease.release', ...fence, why: 'done' });
    expect(mill.refusal(third)).toBeNull();
  });
});

describe('the thresholds of a budget', () => {
  const spend = (mill: Mill, upTo: number[]) => {
    const { fence, runId } = mill.startRun(mill.add());
    return upTo.map((costUsd) => mill.must({ type: 'run.spend', ...fence, runId, usage: usage(costUsd) }));
  };

  it('50, 75, 90 and 100 % are each reported once', () => {
    const mill = world(10, 1000);
    const reported = spend(mill, [4.9, 5, 6, 7.5, 8.9, 9, 9.9, 10, 10.5]).map(thresholds);
    expect(reported).toEqual([[], ['daily 50'], [], ['daily 75'], [], ['daily 90'], [], ['daily 100'], []]);
  });

  it('a single request may pass several: the highest is reported', () => {
    expect(spend(world(10, 12), [9.5]).map(thresholds)).toEqual([['daily 90', 'monthly 75']]);
  });

  it('stop new work from 90 % on, reviews included, until the day is over', () => {
    const mill = world();
    const [, last] = spend(mill, [1, 9]);
    expect(thresholds(last!)).toEqual(['daily 90']);
    mill.add();
    expect(mill.offered('agent-2')).toBe('budget_exhausted');
    expect(mill.offered('reviewer')).toBe('budget_exhausted');
    expect(mill.offered('merger')).toBe('nothing_ready');
    mill.now = Date.parse('2026-11-17T00:00:00Z');
    expect(mill.offered('agent-2')).toBe(2);
  });

  it('a raised limit lets work continue, and its thresholds can be reached again', () => {
    const mill = world();
    spend(mill, [10]);
    mill.add();
    expect(mill.offered('agent-2')).toBe('budget_exhausted');
    const budget = { dailyUsd: 40, monthlyUsd: 100, timeZone: 'UTC' };
    mill.must({ type: 'project.configure', projectId, rules: { ...defaultRules, budget } });
    expect(mill.offered('agent-2')).toBe(2);
    const run = [...mill.runs.values()].at(-1)!;
    const { token } = mill.task(run.subjectId).lease!;
    const fence = { projectId, subjectId: run.subjectId, token, runId: run.id };
    expect(thresholds(mill.must({ type: 'run.spend', ...fence, usage: usage(21) }))).toEqual(['daily 50']);
  });

  it('a run is overdrawn when its reservation and the limit are both used up', () => {
    const mill = world(2, 100);
    const { fence, runId } = mill.startRun(mill.add());
    const other = mill.add();
    mill.claim('agent-2');
    const { token } = mill.task(other).lease!;
    mill.must({ type: 'run.start', projectId, subjectId: other, token, runId: 'run_9', mode: 'plan', agent: 'a' });
    const overdrawn = (costUsd: number) =>
      typesOf(mill.must({ type: 'run.spend', ...fence, runId, usage: usage(costUsd) })).includes('run.overdrawn');
    expect(overdrawn(0.6)).toBe(false);
    expect(overdrawn(1.49)).toBe(false);
    // This run must not spend the other's half dollar.
    expect(overdrawn(1.5)).toBe(true);
  });
});

describe('the budget of all projects', () => {
  const all = accountId('all');
  const limit = (mill: Mill, dailyUsd: number) => {
    const limits = { dailyUsd, monthlyUsd: 1000 };
    return mill.execute({
      type: 'budget.limit',
      projectId,
      accountId: all,
      limits,
      timeZone: 'Europe/Berlin',
      by: personActor('ada'),
    });
  };

  it('applies to each, and a project’s own is not set by command', () => {
    const mill = world(500, 5000);
    expect(limit(mill, 3).ok).toBe(true);
    const { fence, runId } = mill.startRun(mill.add());
    const events = mill.must({ type: 'run.spend', ...fence, runId, usage: usage(3) });
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'budget.threshold_reached', accountId: all, threshold: 100 }),
    );
    mill.add();
    expect(mill.offered('agent-2')).toBe('budget_exhausted');
    // Midnight in Berlin, not in Greenwich.
    mill.now = Date.parse('2026-11-16T23:00:00Z');
    expect(mill.offered('agent-2')).toBe(2);
    const command = { type: 'budget.limit', projectId, accountId: accountId(projectId), timeZone: 'UTC' } as const;
    expect(mill.refusal({ ...command, limits: { dailyUsd: 1, monthlyUsd: 1 }, by: personActor('ada') })).toBe(
      'bad_input',
    );
  });

  it('setting the same limits again changes nothing', () => {
    const mill = world();
    limit(mill, 3);
    const again = limit(mill, 3);
    expect(again.ok && again.events).toEqual([]);
  });
});

describe('the view of an account', () => {
  it('shows what is spent and reserved, the percentage, and a linear forecast', () => {
    const mill = world();
    const { fence, runId } = mill.startRun(mill.add());
    mill.must({ type: 'run.spend', ...fence, runId, usage: usage(0.4) });
    const project = mill.projects.get(projectId)!;
    const view = viewAccount(project, own(mill), mill.now, calendars);
    expect(view.daily).toMatchObject({ spentUsd: 0.4, percent: 4 });
    expect(view.daily.reservedUsd).toBeCloseTo(0.1);
    // Eight of 24 hours.
    expect(view.daily.forecastUsd).toBeCloseTo(1.2);
    expect(view.monthly.forecastUsd).toBeCloseTo((0.4 * 30 * 24) / (15 * 24 + 8));
    expect(view.stopped).toBeNull();
    expect(budgetAccountOf(project, undefined, mill.now, calendars).account.spentDayUsd).toBe(0);
  });

  it('says why no work starts, until when, and what to do', () => {
    const mill = world();
    const { fence, runId } = mill.startRun(mill.add());
    mill.must({ type: 'run.spend', ...fence, runId, usage: usage(10) });
    const { stopped } = viewAccount(mill.projects.get(projectId)!, own(mill), mill.now, calendars);
    expect(stopped).toContain('daily budget of the project is used up: 10.00 USD of 10.00 USD');
    expect(stopped).toContain('2026-11-17T00:00:00.000Z');
    expect(stopped).toContain('.tidemill/config.yaml');
  });
});

describe('impossible amounts', () => {
  const [huge, none] = [1e308, Number.POSITIVE_INFINITY];

  it.each([
    ['two of 1e308', [huge, huge]],
    ['infinity', [none, none]],
    ['no number', [Number.NaN, Number.NaN]],
    ['less than nothing', [-5, -huge]],
  ])('add up to numbers that can be stored: %s', (_name, amounts) => {
    const mill = world(1_000_000, 1_000_000);
    // Both start before the first has spent everything; they report their cost at their end.
    const started = amounts.map((_, index) => {
      const begun = mill.startRun(mill.add({ priority: index === 0 ? 1 : 0 }));
      mill.must({ type: 'lease.release', ...begun.fence, why: 'shutdown' });
      return begun;
    });
    for (const [index, { fence, runId }] of started.entries()) {
      const [tokens, costUsd] = [amounts[index]!, amounts[index]!];
      const reported = { inputTokens: tokens, outputTokens: tokens, requests: tokens, costUsd };
      mill.must({ type: 'run.spend', ...fence, runId, usage: reported });
      const { usage: kept } = mill.runs.get(runId)!;
      for (const count of [kept.inputTokens, kept.outputTokens, kept.requests]) {
        expect(count).toBeGreaterThanOrEqual(0);
        expect(count).toBeLessThanOrEqual(MAX_COUNT);
      }
    }
    const account = own(mill);
    for (const spent of [account.spentDayUsd, account.spentMonthUsd]) {
      expect(spent).toBeGreaterThanOrEqual(0);
      expect(spent).toBeLessThanOrEqual(MAX_USD);
    }
    expect(JSON.parse(JSON.stringify(account))).toEqual(account);
  });
});

describe('requests without a price', () => {
  const unpriced = (requests: number): Usage => {
    const costUsd = requests * UNKNOWN_REQUEST_USD;
    return { inputTokens: 0, outputTokens: 0, requests, costUsd, assumedUsd: costUsd };
  };

  it('are booked up to the reservation and one more, however many are reported at once', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 2_000 }), { minLength: 1, maxLength: 20 }),
        fc.integer({ min: 1, max: 40 }),
        (bursts, limit) => {
          const mill = world(limit, limit * 10);
          const { fence, runId } = mill.startRun(mill.add());
          let requests = 0;
          for (const burst of bursts) {
            requests += burst;
            const before = own(mill);
            const most = before.spentDayUsd + (before.reserved[runId] ?? 0) + UNKNOWN_REQUEST_USD;
            const events = mill.must({ type: 'run.spend', ...fence, runId, usage: unpriced(requests) });
            expect(own(mill).spentDayUsd).toBeLessThanOrEqual(most + 1e-9);
            if (events.some(({ type }) => type === 'run.overdrawn')) break;
          }
          expect(own(mill).spentDayUsd).toBeLessThanOrEqual(limit + UNKNOWN_REQUEST_USD + 1e-9);
        },
      ),
    );
  });

  it('are not booked for a run that was stopped, and priced requests are', () => {
    const mill = world();
    const { fence, runId } = mill.startRun(mill.add());
    mill.must({ type: 'run.spend', ...fence, runId, usage: unpriced(1) });
    mill.must({ type: 'lease.release', ...fence, why: 'budget' });
    const { spentDayUsd } = own(mill);
    mill.must({ type: 'run.spend', ...fence, runId, usage: unpriced(100) });
    expect(own(mill).spentDayUsd).toBe(spentDayUsd);
    const priced = { ...unpriced(101), costUsd: 0.5 + 0.75, assumedUsd: 0.5 };
    mill.must({ type: 'run.spend', ...fence, runId, usage: priced });
    expect(own(mill).spentDayUsd).toBeCloseTo(spentDayUsd + 0.75);
  });

  it('of an agent that crashed before its first turn cost nothing', () => {
    const mill = world();
    const { fence, runId } = mill.startRun(mill.add());
    mill.must({ type: 'run.brief', ...fence, runId, promptTokens: 1, dropped: [] });
    const nothing: Usage = { inputTokens: 0, outputTokens: 0, requests: 0, costUsd: null };
    const end = { outcome: 'failed', failure: 'crash', envelope: null } as const;
    mill.must({ type: 'run.finish', ...fence, runId, ...end, usage: nothing });
    expect(own(mill).spentDayUsd).toBe(0);
  });
});
