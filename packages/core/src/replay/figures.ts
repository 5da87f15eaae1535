import type {
  Mean,
  PairedFigures,
  ReplayReport,
  ReplayResult,
  ReplayRun,
  Share,
  VariantFigures,
} from '@tidemill/contract';

/** For 95 % of a normal distribution. */
const Z = 1.96;
/** The same for Student's t with 1, 2, 3 … degrees of freedom. Beyond the list the normal one is near enough. */
const T = [
  12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.1, 2.09, 2.09,
];
const tFor = (degrees: number): number => T[degrees - 1] ?? Z;

/** The Wilson interval of a share: it stays within 0 and 1 and is usable for few observations. */
export function shareOf(successes: number, all: number): Share | null {
  if (all <= 0) return null;
  const value = successes / all;
  const spread = 1 + Z ** 2 / all;
  const centre = (value + Z ** 2 / (2 * all)) / spread;
  const half = (Z * Math.sqrt((value * (1 - value)) / all + Z ** 2 / (4 * all ** 2))) / spread;
  return { value, low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

export function meanOf(values: readonly number[]): Mean | null {
  if (values.length === 0) return null;
  const value = sum(values) / values.length;
  if (values.length === 1) return { value, low: value, high: value };
  const half = (tFor(values.length - 1) * deviationOf(values)) / Math.sqrt(values.length);
  return { value, low: value - half, high: value + half };
}

/** How likely at least `better` of the pairs that differ would be if each side were as likely. */
export function signTest(better: number, worse: number): number {
  const all = better + worse;
  if (all === 0) return 1;
  let term = 0.5 ** all;
  let total = 0;
  for (let k = 0; k <= all; k += 1) {
    if (k >= better) total += term;
    term = (term * (all - k)) / (k + 1);
  }
  return Math.min(1, total);
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
function deviationOf(values: readonly number[]): number {
  const mean = sum(values) / values.length;
  return Math.sqrt(sum(values.map((value) => (value - mean) ** 2)) / (values.length - 1));
}

type Tried = Pick<ReplayRun, 'taskId' | 'variant' | 'result'>;

/** What the runs of a replay show so far. */
export function reportOf(variants: readonly string[], runs: readonly Tried[]): ReplayReport {
  const byVariant = variants.map((_, variant) => runs.filter((run) => run.variant === variant));
  return {
    variants: variants.map((name, variant) => figuresOf(name, byVariant[variant]!)),
    pairs: variants.slice(1).map((name, index) => pairsOf(name, byVariant[0]!, byVariant[index + 1]!)),
  };
}

const isValid = (result: ReplayResult | null): result is ReplayResult => result !== null && result.verdict !== 'void';
const resultsOf = (runs: readonly Tried[]): ReplayResult[] => runs.map(({ result }) => result).filter(isValid);

function figuresOf(name: string, runs: readonly Tried[]): VariantFigures {
  const valid = resultsOf(runs);
  const passed = valid.filter(({ verdict }) => verdict === 'passed').length;
  const firstTry = valid.filter(({ isFirstTry }) => isFirstTry).length;
  return {
    name,
    runs: valid.length,
    void: runs.filter(({ result }) => result?.verdict === 'void').length,
    passed,
    passRate: shareOf(passed, valid.length),
    firstTry,
    firstTryRate: shareOf(firstTry, valid.length),
    costUsd: meanOf(valid.flatMap(({ costUsd }) => costUsd ?? [])),
    tokens: meanOf(valid.map(({ tokens }) => tokens)),
    durationMs: meanOf(valid.map(({ durationMs }) => durationMs)),
  };
}

/**
 * Compares task by task, because tasks differ more than variants do. Repetitions of a task are averaged first: they are
 * not independent of each other.
 */
function pairsOf(name: string, base: readonly Tried[], other: readonly Tried[]): PairedFigures {
  const differences: number[] = [];
  const passed: number[] = [];
  const costs = { base: 0, other: 0, known: true };
  for (const taskId of new Set(base.map((run) => run.taskId))) {
    const mine = resultsOf(base.filter((run) => run.taskId === taskId));
    const theirs = resultsOf(other.filter((run) => run.taskId === taskId));
    if (mine.length === 0 || theirs.length === 0) continue;
    differences.push(rate(theirs, ({ isFirstTry }) => isFirstTry) - rate(mine, ({ isFirstTry }) => isFirstTry));
    const hasPassed = ({ verdict }: ReplayResult) => verdict === 'passed';
    passed.push(rate(theirs, hasPassed) - rate(mine, hasPassed));
    costs.known &&= [...mine, ...theirs].every(({ costUsd }) => costUsd !== null);
    costs.base += sum(mine.map(({ costUsd }) => costUsd ?? 0)) / mine.length;
    costs.other += sum(theirs.map(({ costUsd }) => costUsd ?? 0)) / theirs.length;
  }
  const better = differences.filter((each) => each > 0).length;
  const worse = differences.filter((each) => each < 0).length;
  return {
    name,
    pairs: differences.length,
    better,
    worse,
    gain: gainOf(differences),
    p: signTest(better, worse),
    pWorse: signTest(worse, better),
    passedMore: passed.filter((each) => each > 0).length,
    passedLess: passed.filter((each) => each < 0).length,
    costRatio: costs.known && costs.base > 0 ? costs.other / costs.base : null,
  };
}

const rate = (results: readonly ReplayResult[], holds: (result: ReplayResult) => boolean) =>
  results.filter(holds).length / results.length;

/** The interval of Bonett and Price: one pair of each kind is added, so that few pairs that agree are not taken for certain. */
function gainOf(differences: readonly number[]): Share | null {
  if (differences.length === 0) return null;
  const value = sum(differences) / differences.length;
  const more = [...differences, 1, -1];
  const centre = sum(more) / more.length;
  const half = Z * Math.sqrt(sum(more.map((each) => (each - centre) ** 2)) / more.length ** 2);
  return { value, low: Math.max(-1, centre - half), high: Math.min(1, centre + half) };
}
