import { isBlocking, METRIC_PERIOD_MS, type MetricPeriod, type MetricsView, type Project } from '@tidemill/contract';
import type { Store } from '../ports.ts';

/** More receipts than this are not looked at: the newest tell how flaky a gate is now. */
const MOST_RECEIPTS = 5_000;
const PAGE = 1_000;

export interface GateFigures {
  /** How often each gate failed and then passed on the same tree, of all the trees it was run on. */
  flakes: MetricsView['flakes'];
  runs: number;
  passed: number;
  /** Tasks that a gate refused. */
  refused: Set<string>;
}

/** What the receipts of a period say. */
export async function gateFiguresOf(
  store: Store,
  { id, evidence }: Project,
  period: MetricPeriod,
  now: number,
): Promise<GateFigures> {
  const count = (await store.project(id))?.evidence.count ?? evidence.count;
  const last = new Map<string, { taskId: string; isRefused: boolean }>();
  const byGate = new Map<string, { gate: string; runs: number; flakes: number }>();
  for (let afterPosition = Math.max(0, count - MOST_RECEIPTS); ; ) {
    const page = await store.evidence({ projectId: id, afterPosition, limit: PAGE });
    for (const receipt of page) {
      const { gate, at, attempt, status, tree, taskId } = receipt;
      if (at < now - METRIC_PERIOD_MS[period]) continue;
      const row = byGate.get(gate) ?? { gate, runs: 0, flakes: 0 };
      byGate.set(gate, row);
      last.set(`${gate}\n${tree}`, { taskId, isRefused: isBlocking(receipt) });
      if (attempt === 1) row.runs += 1;
      else if (status === 'pass') row.flakes += 1;
    }
    if (page.length < PAGE) break;
    afterPosition = page.at(-1)!.position;
  }
  const results = [...last.values()];
  return {
    flakes: [...byGate.values()].filter(({ flakes }) => flakes > 0),
    runs: results.length,
    passed: results.filter(({ isRefused }) => !isRefused).length,
    refused: new Set(results.flatMap(({ taskId, isRefused }) => (isRefused ? [taskId] : []))),
  };
}
