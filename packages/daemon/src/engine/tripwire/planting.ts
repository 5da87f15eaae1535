import { type Mutant, newestByGate } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import type { Baseline } from '../stages/baseline.ts';
import { type GateSight, type TrialAsker, tryFaults } from './trial.ts';

/** A gate that passes although something is broken that it noticed before. */
export interface BlindGate {
  gate: string;
  /** Empty: every program was broken. */
  mutants: Mutant[];
  /** It sees, but the work passes it only where it is proven. */
  isElsewhere?: true;
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
  /** The candidate and the target as they are, in other surroundings than those of a proof. */
  elsewhere(of: 'candidate' | 'target', gates: string[]): Promise<Map<string, GateSight>>;
}

export function plantingOf(
  deps: EngineDeps,
  baseline: Pick<Baseline, 'redAmong'>,
  { commit, base, asker }: TrialCandidate,
  times: Map<string, number>,
): Planting {
  const run = (at: string, texts: ReadonlyMap<string, string>, gates: string[], isElsewhere = false) => {
    const usualMs = gates.reduce((sum, gate) => sum + (times.get(gate) ?? 0), 0);
    return tryFaults(deps, { commit: at, texts, gates, usualMs, asker, isElsewhere });
  };
  return {
    onCandidate: (texts, gates) => run(commit, texts, gates),
    elsewhere: (of, gates) =>
      gates.length === 0 ? Promise.resolve(new Map()) : run(of === 'candidate' ? commit : base, new Map(), gates, true),
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
