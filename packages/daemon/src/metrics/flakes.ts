import { METRIC_PERIOD_MS, type MetricPeriod, type MetricsView, type Project } from '@tidemill/contract';
import type { Store } from '../ports.ts';

/** More receipts than this are not looked at: the newest tell how flaky a gate is now. */
const MOST_RECEIPTS = 5_000;
const PAGE = 1_000;

/** How often each gate failed and then passed on the same tree, of all the trees it was run on. */
export async function flakesOf(
  store: Store,
  { id, evidence }: Project,
  period: MetricPeriod,
  now: number,
): Promise<MetricsView['flakes']> {
  const count = (await store.project(id))?.evidence.count ?? evidence.count;
  const byGate = new Map<string, { gate: string; runs: number; flakes: number }>();
  for (let afterPosition = Math.max(0, count - MOST_RECEIPTS); ; ) {
    const page = await store.evidence({ projectId: id, afterPosition, limit: PAGE });
    for (const { gate, at, attempt, status } of page) {
      if (at < now - METRIC_PERIOD_MS[period]) continue;
      const row = byGate.get(gate) ?? { gate, runs: 0, flakes: 0 };
      byGate.set(gate, row);
      if (attempt === 1) row.runs += 1;
      else if (status === 'pass') row.flakes += 1;
    }
    if (page.length < PAGE) return [...byGate.values()].filter(({ flakes }) => flakes > 0);
    afterPosition = page.at(-1)!.position;
  }
}
