import { ALL_PROJECTS, AppError, accountId, type MetricFigures, MetricPeriod } from '@tidemill/contract';
import { Calendars, viewAccount } from '@tidemill/core';
import type { Clock, Store } from '../ports.ts';
import type { MetricsSource } from './metrics.ts';

/** A figure under the name that both Prometheus and OpenTelemetry know it by. Seconds and USD, as is usual there. */
export const GAUGES: { name: string; help: string; value(figures: MetricFigures): number | null }[] = [
  { name: 'tidemill_tasks_completed', help: 'Tasks done in the period', value: (of) => of.completed },
  {
    name: 'tidemill_cycle_time_seconds',
    help: 'From the first claim to done, on average',
    value: (of) => (of.cycleTimeMs === null ? null : of.cycleTimeMs / 1000),
  },
  {
    name: 'tidemill_first_review_pass_ratio',
    help: 'Part of the first reviews that approved',
    value: (of) => of.firstReviewPassRate,
  },
  { name: 'tidemill_run_errors', help: 'Runs that failed in the period', value: (of) => of.errors },
  { name: 'tidemill_errors_per_task', help: 'Failed runs per task worked on', value: (of) => of.errorRate },
  { name: 'tidemill_cost_usd', help: 'Cost of all runs in the period', value: (of) => of.costUsd },
  { name: 'tidemill_cost_per_task_usd', help: 'Cost per task done, on average', value: (of) => of.costPerTaskUsd },
  { name: 'tidemill_uptime_ratio', help: 'Part of the time in which an agent worked', value: (of) => of.uptime },
];

interface Sources {
  store: Store;
  clock: Clock;
  metrics: MetricsSource;
}

export async function renderPrometheus(sources: Sources): Promise<{ type: string; text: string }> {
  const { Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  const labelNames = ['project', 'worker', 'period'];
  const gauges = GAUGES.map(({ name, help, value }) => ({
    gauge: new Gauge({ name, help, labelNames, registers: [registry] }),
    value,
  }));
  for (const project of await sources.store.projects()) {
    for (const period of MetricPeriod.options) {
      const { workers, total } = await sources.metrics.of(project, period);
      for (const { name: worker, ...figures } of [...workers, { ...total, name: 'all' }]) {
        for (const { gauge, value } of gauges) {
          const known = value(figures);
          if (known !== null) gauge.set({ project: project.name, worker, period }, known);
        }
      }
    }
  }
  const budget = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['project', 'period'], registers: [registry] });
  const spent = budget('tidemill_budget_spent_usd', 'Spent in the current day or month');
  const reserved = budget('tidemill_budget_reserved_usd', 'Set aside for running work');
  const limit = budget('tidemill_budget_limit_usd', 'The limit of the current day or month');
  const calendars = new Calendars();
  for (const project of [...(await sources.store.projects()), null]) {
    const account = await sources.store.record('account', accountId(project?.id ?? ALL_PROJECTS)).catch(ifUnreadable);
    if (account === 'unreadable') continue;
    const view = viewAccount(project, account, sources.clock.now(), calendars);
    for (const period of ['daily', 'monthly'] as const) {
      const labels = { project: view.name, period };
      spent.set(labels, view[period].spentUsd);
      reserved.set(labels, view[period].reservedUsd);
      limit.set(labels, period === 'daily' ? view.limits.dailyUsd : view.limits.monthlyUsd);
    }
  }
  const healthy = new Gauge({
    name: 'tidemill_environment_healthy',
    help: '1 when the last delivery left the environment healthy, 0 when its state is unknown',
    labelNames: ['project', 'environment'],
    registers: [registry],
  });
  for (const { id: projectId, name: project } of await sources.store.projects())
    for (const { name, state } of await sources.store.records({ noun: 'environment', projectId }))
      healthy.set({ project, environment: name }, state === 'healthy' ? 1 : 0);
  return { type: registry.contentType, text: await registry.metrics() };
}

/** A missing metric is better than a wrong one. `tidemill doctor` names the row. */
function ifUnreadable(error: unknown): 'unreadable' {
  if (error instanceof AppError && error.code === 'store_failed') return 'unreadable';
  throw error;
}
