import { INTEGRITY_GATE, isBlocking } from '@tidemill/contract';
import type { GateReport, GateRequest, Gates } from '../../ports.ts';

/**
 * Runs the gates, and those that fail once more from a clean start: a flake decides nothing. Returns the reports of both runs,
 * the later ones last.
 */
export async function runWithRetry(gates: Gates, request: GateRequest): Promise<GateReport[]> {
  const reports = await gates.run(request);
  const again = failedGates(reports).filter((gate) => gate !== INTEGRITY_GATE);
  if (again.length === 0 || request.signal.aborted || reports.some(({ fixed }) => fixed.length > 0)) return reports;
  await request.reset?.();
  // Includes gates that were not run because they need a failed one.
  const hasPassed = (gate: string) => reports.some(({ receipt }) => receipt.gate === gate && receipt.status === 'pass');
  const own = (request.own ?? []).map(({ name }) => name);
  const only = [...gates.names, ...own].filter((gate) => gate !== INTEGRITY_GATE && !hasPassed(gate));
  return [...reports, ...(await gates.run({ ...request, only, again }))];
}

const failedGates = (reports: GateReport[]): string[] =>
  reports.filter(({ receipt }) => receipt.status === 'fail' && isBlocking(receipt)).map(({ receipt }) => receipt.gate);

/** The newest report of each gate. */
export const latest = (reports: GateReport[]): GateReport[] => [
  ...new Map(reports.map((report) => [report.receipt.gate, report])).values(),
];
