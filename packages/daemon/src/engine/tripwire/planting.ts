import { type Mutant, newestByGate } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import type { Baseline } from '../stages/baseline.ts';
import { type GateSight, type TrialAsker, tryFaults } from './trial.ts';

/** A gate that passes although something is broken that it noticed before. */
export interface BlindGate {
  gate: string;
  /** Empty: every program was broken. */
  mutants: Mutant[];
}

/** `open`: the gates about which nothing is known yet. */
export interface Examined {
  blind: BlindGate[];
  open: string[];
}

/** A candidate that is about to land, or has landed, on its base. Without one, both are the same. */
export interface TrialCandidate {
  commit: string;
  base: string;
  asker: TrialAsker;
}

type Run = (texts: ReadonlyMap<string, string>, gates: string[]) => Promise<Map<string, GateSight>>;

/** Runs gates on copies of a candidate and of its target. */
export interface Planting {
  onCandidate: Run;
  /** A gate that fails on the target anyway shows nothing there. */
  onTarget: Run;
}

export function plantingOf(
  deps: EngineDeps,
  baseline: Pick<Baseline, 'redAmong'>,
  { commit, base, asker }: TrialCandidate,
  times: Map<string, number>,
): Planting {
  const run = (at: string, texts: ReadonlyMap<string, string>, gates: string[]) => {
    const usualMs = gates.reduce((sum, gate) => sum + (times.get(gate) ?? 0), 0);
    return tryFaults(deps, { commit: at, texts, gates, usualMs, asker });
  };
  return {
    onCandidate: (texts, gates) => run(commit, texts, gates),
    async onTarget(texts, gates) {
      if (gates.length === 0) return new Map();
      const red = await baseline.redAmong(base, gates, asker);
      const green = gates.filter((gate) => !red.has(gate));
      const sights = green.length === 0 ? new Map<string, GateSight>() : await run(base, texts, green);
      return new Map(gates.map((gate) => [gate, sights.get(gate) ?? 'unknown']));
    },
  };
}

/** How long each gate took on the tree of this commit. */
export async function gateTimes(
  { store, workspace, project }: EngineDeps,
  commit: string,
): Promise<Map<string, number>> {
  const tree = await workspace.treeOf(commit);
  const newest = newestByGate(await store.evidenceForTree(project.id, tree), project.rules.gateConfigs);
  return new Map([...newest].map(([gate, { durationMs }]) => [gate, durationMs]));
}
