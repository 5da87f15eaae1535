import type { GateCounts } from '@tidemill/contract';
import type { GateReport, PreparationRequest } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { prepareCheckout } from '../stages/environment.ts';

/** `unknown`: the gate did not run to its end, so it says nothing about the fault. */
export type GateSight = 'noticed' | 'passed' | 'unknown';

/** The work for which it is done, and which stops it. */
export type TrialAsker = Pick<PreparationRequest, 'signal' | 'control' | 'watch'>;

/** A fault may keep a program busy for ever. */
const LEAST_LIMIT_MS = 20_000;
const TIMES_USUAL = 4;

export interface Trial {
  commit: string;
  /** The files with faults in them. */
  texts: ReadonlyMap<string, string>;
  gates: string[];
  /** What the gates together usually take. */
  usualMs: number;
  asker: TrialAsker;
  /** In surroundings as on a person's machine, with a commit message as work that landed has it. */
  isElsewhere?: boolean;
  /** Also at another path. */
  isMoved?: boolean;
}

/** As `tidemill evidence verify` would find it. Nothing stands behind it: this commit never lands. */
const LANDED = `\n\nTask: #1\nEvidence: ${'0'.repeat(64)}`;

class TooLong extends Error {}

/** Runs gates on a throw-away commit that differs from another one by planted faults. */
export async function tryFaults(deps: EngineDeps, trial: Trial): Promise<Map<string, GateSight>> {
  const reports = await reportsOn(deps, trial);
  return new Map(trial.gates.map((gate) => [gate, reports === null ? 'unknown' : sightOf(deps, reports, gate)]));
}

/** How many tests of each gate fail and pass there. Null: it passes, unless `passing` counts, or its figures cannot be read. */
export async function countTests(
  deps: EngineDeps,
  trial: Trial,
  passing: 'counts' | 'is null' = 'is null',
): Promise<Map<string, GateCounts | null>> {
  const reports = (await reportsOn(deps, trial)) ?? [];
  const isCounted = (sight: GateSight) => sight === 'noticed' || (sight === 'passed' && passing === 'counts');
  const counts = (gate: string) =>
    isCounted(sightOf(deps, reports, gate))
      ? (reports.findLast(({ receipt }) => receipt.gate === gate)?.receipt.counts ?? null)
      : null;
  return new Map(trial.gates.map((gate) => [gate, counts(gate)]));
}

/** Null: they did not come to their end. */
async function reportsOn(
  deps: EngineDeps,
  { commit, texts, gates, usualMs, asker, isElsewhere = false, isMoved = false }: Trial,
): Promise<GateReport[] | null> {
  const faulty = await deps.workspace.withTexts(commit, texts, isElsewhere ? LANDED : '');
  const checkout = await deps.workspace.checkOut(faulty.commit);
  const over = new AbortController();
  const limit = new AbortController();
  const tooLong = new TooLong('a planted fault made the gates run too long');
  try {
    const broken = await prepareCheckout(deps, checkout, { ...asker, base: commit });
    if (broken !== null) return null;
    const limitMs = Math.max(LEAST_LIMIT_MS, TIMES_USUAL * usualMs);
    void deps.clock.sleep(limitMs, over.signal).then(() => limit.abort(tooLong));
    const { path, tree } = checkout;
    const signal = AbortSignal.any([asker.signal, limit.signal]);
    const figures = 'highest';
    return await deps.gates.run({
      ...asker,
      path,
      tree,
      files: null,
      only: gates,
      figures,
      isElsewhere,
      isMoved,
      signal,
    });
  } catch (error) {
    if (error !== tooLong) throw error;
    return null;
  } finally {
    over.abort();
    await checkout.close();
  }
}

function sightOf({ gates }: EngineDeps, reports: GateReport[], gate: string): GateSight {
  // A gate that needs a failed one was not run.
  const report = reports.findLast(({ receipt }) => receipt.gate === gate);
  if (!report) return 'unknown';
  const { status, durationMs } = report.receipt;
  if (status === 'pass') return 'passed';
  const timeout = gates.checks.find(({ name }) => name === gate)?.timeout ?? Number.POSITIVE_INFINITY;
  return status === 'fail' && durationMs < timeout ? 'noticed' : 'unknown';
}
