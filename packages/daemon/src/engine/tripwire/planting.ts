import { type GateCounts, ranTests } from '@tidemill/contract';
import { type Mutant, newestByGate } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import type { Baseline } from '../stages/baseline.ts';
import { countTests, type GateSight, type TrialAsker, tryFaults } from './trial.ts';

/** A gate that passes although something is broken that it noticed before. */
export interface BlindGate {
  gate: string;
  /** Empty: every program was broken. */
  mutants: Mutant[];
  /** How many tests more than on the target pass although every line of the product is broken. */
  tests?: number;
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

type Count = (texts: ReadonlyMap<string, string>, gates: string[]) => Promise<Map<string, GateCounts | null>>;
type Run = (texts: ReadonlyMap<string, string>, gates: string[]) => Promise<Map<string, GateSight>>;

/** Runs gates on copies of a candidate and of its target. */
export interface Planting {
  onCandidate: Run;
  /** A gate that fails on the target anyway shows nothing there. */
  onTarget: Run;
  /** How many tests fail and pass: on the candidate, on it with the target's files for these paths, on the target. */
  countOnCandidate: Count;
  countWithOld(files: string[], ...about: Parameters<Count>): ReturnType<Count>;
  countOnTarget: Count;
  /** On the candidate with these files empty. They may all pass. */
  countWithout(files: string[], ...about: Parameters<Count>): ReturnType<Count>;
  /** The candidate and the target as they are, in other surroundings than those of a proof. */
  elsewhere(of: 'candidate' | 'target', gates: string[], isMoved: boolean): Promise<Map<string, GateSight>>;
}

export function plantingOf(
  deps: EngineDeps,
  baseline: Pick<Baseline, 'redAmong'>,
  { commit, base, asker }: TrialCandidate,
  times: Map<string, number>,
): Planting {
  const about = (at: string, texts: ReadonlyMap<string, string>, gates: string[], isMoved?: boolean) => {
    const usualMs = gates.reduce((sum, gate) => sum + (times.get(gate) ?? 0), 0);
    const place = isMoved === undefined ? {} : { isElsewhere: true, isMoved };
    return { commit: at, texts, gates, usualMs, asker, ...place };
  };
  const run = (...its: Parameters<typeof about>) => tryFaults(deps, about(...its));
  const count = (...its: Parameters<typeof about>) => countTests(deps, about(...its));
  return {
    onCandidate: (texts, gates) => run(commit, texts, gates),
    countOnCandidate: (texts, gates) => count(commit, texts, gates),
    countOnTarget: (texts, gates) => count(base, texts, gates),
    countWithout(files, texts, gates) {
      const empty = files.map((file): [string, string] => [file, '']);
      return countTests(deps, about(commit, new Map([...texts, ...empty]), gates), 'counts');
    },
    async countWithOld(files, texts, gates) {
      const { commit: mixed } = await deps.workspace.putBack(await deps.workspace.treeOf(commit), base, files);
      return count(mixed, texts, gates);
    },
    elsewhere: (of, gates, isMoved) =>
      gates.length === 0
        ? Promise.resolve(new Map())
        : run(of === 'candidate' ? commit : base, new Map(), gates, isMoved),
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
export const gateTimes = async (deps: EngineDeps, commit: string): Promise<Map<string, number>> =>
  new Map([...(await receiptsOf(deps, commit))].map(([gate, { durationMs }]) => [gate, durationMs]));

/** How many tests each gate ran there, as far as it is known. */
export async function testsRun(deps: EngineDeps, commit: string): Promise<Map<string, number>> {
  const receipts = [...(await receiptsOf(deps, commit))];
  return new Map(receipts.flatMap(([gate, { counts }]) => (counts ? [[gate, ranTests(counts)] as const] : [])));
}

async function receiptsOf({ store, workspace, project }: EngineDeps, commit: string) {
  const tree = await workspace.treeOf(commit);
  return newestByGate(await store.evidenceForTree(project.id, tree), project.rules.gateConfigs);
}
