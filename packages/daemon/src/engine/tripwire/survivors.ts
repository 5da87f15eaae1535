import { type GateCounts, ranTests } from '@tidemill/contract';
import { brokenTogether, casesIn } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import type { CandidateCopy, Source } from './candidate-copy.ts';
import type { KnownFaults } from './known-faults.ts';
import type { BlindGate, Planting } from './planting.ts';

/** `times`, `usual`: how long each gate takes on the candidate, and how many tests it runs. */
type Look = Planting & { field: CandidateCopy; seed: string; times: Map<string, number>; usual: Map<string, number> };

/** For a gate that takes longer, it is left to chance whether the planted fault is one that a blind test should notice. */
const MOST_MS = 30_000;

/** How often the same is tried with other faults before tests count as blind. */
const AGAIN = 2;

/**
 * Tests that have become blind while others still see. Every line of the product that the candidate shares with the target
 * is broken at once, so hardly a test should pass. More of the target's tests that pass than on the target itself are blind:
 *
 *   candidate ──as few pass as on the target──▶ they see
 *        └─ more ──▶ with the target's tests ──▶ still more ────────────────────────┐
 *                          └─ fewer: tests of the work pass ──▶ these alone: fewer ──┴─▶ twice with other faults: blind
 *
 * `seeing`: gates about whose tests nothing more has to be found out.
 */
export async function blindTests(
  { hash, gates }: Pick<EngineDeps, 'hash' | 'gates'>,
  look: Look,
  known: Pick<KnownFaults, 'of' | 'noteSurvivors'>,
  asked: string[],
): Promise<{ blind: BlindGate[]; seeing: string[] }> {
  const blind: BlindGate[] = [];
  const seeing: string[] = [];
  for (const gate of asked) {
    if (!gates.counted?.includes(gate) || (look.times.get(gate) ?? 0) > MOST_MS) continue;
    const { survivors } = await known.of(gate);
    const seed = survivors?.seed ?? hash(`${look.seed} ${gate}`).slice(0, 16);
    const first = await survivorsOf(hash, look, gate, { seed, expected: survivors?.passed ?? null });
    if (first === null) continue;
    // Where none passed, the target was not asked: there is nothing below that.
    const passed = first.passedOnTarget ?? survivors?.passed ?? 0;
    if (passed !== survivors?.passed) await known.noteSurvivors(gate, { seed, passed });
    let more = first.more;
    // A fault in a changed line may be one that no test looks at.
    for (let again = 1; again <= AGAIN && more > 0; again += 1) {
      const other = await survivorsOf(hash, look, gate, { seed: `${look.seed} ${again}`, expected: null });
      more = Math.min(more, other?.more ?? 0);
    }
    if (more === 0 && look.field.touchesTests) more = await besideIntactWork(hash, look, gate);
    if (more > 0) blind.push({ gate, mutants: [], tests: more });
    // Changed tests can make others blind, and some runners stop after the first group that fails.
    else if (first.more === 0 && first.isSettled && first.ran >= (look.usual.get(gate) ?? 1)) seeing.push(gate);
  }
  return { blind, seeing };
}

/** The same with faults in other files only: code may make tests blind as long as its own file is right. */
async function besideIntactWork(
  hash: EngineDeps['hash'],
  { field, seed, ...planting }: Look,
  gate: string,
): Promise<number> {
  const { tests } = field;
  let more = Number.POSITIVE_INFINITY;
  for (let again = 0; again <= AGAIN && more > 0; again += 1) {
    const broken = [...field.concerned, ...field.others].flatMap(({ path, before: { text } }) => {
      const both = brokenTogether(path, { before: text, after: text }, ({ before, after }) =>
        hash(`${seed} ${again} ${before} ${after}`),
      );
      return both ? [[path, both.after] as const] : [];
    });
    if (broken.length === 0) return 0;
    const texts = new Map(broken);
    const here = (
      await (tests.length === 0
        ? planting.countWithout([], texts, [gate])
        : planting.countWithOld(tests, texts, [gate]))
    ).get(gate);
    const onTarget = here && (await planting.countOnTarget(texts, [gate])).get(gate);
    if (!here || !onTarget) return 0;
    more = Math.min(more, Math.max(0, unfailed(here) - unfailed(onTarget) - newCases(field.changed)));
  }
  return more;
}

interface Survivors {
  ran: number;
  /** How many more than on the target. */
  more: number;
  /** Null: it was not needed. */
  passedOnTarget: number | null;
  /** Nothing more has to be found out about the tests of the work. */
  isSettled: boolean;
}

/** Null: the figures cannot be read, or the gate passes as a whole. */
async function survivorsOf(
  hash: EngineDeps['hash'],
  { field, ...planting }: Look,
  gate: string,
  { seed, expected }: { seed: string; expected: number | null },
): Promise<Survivors | null> {
  const broken = [...field.changed, ...field.concerned, ...field.others].flatMap(({ path, ...versions }) => {
    const texts = { before: versions.before.text, after: versions.after.text };
    const both = brokenTogether(path, texts, ({ before, after }) => hash(`${seed} ${before} ${after}`));
    return both ? [{ path, ...both }] : [];
  });
  if (broken.length === 0) return null;
  const after = new Map(broken.map((each) => [each.path, each.after]));
  const { tests, addsTestsOnly } = field;
  const whole = (await planting.countOnCandidate(after, [gate])).get(gate) ?? null;
  const ofWhole = { ran: ranTests(whole), passedOnTarget: null, isSettled: addsTestsOnly };
  if (whole && ofWhole.ran > 0 && unfailed(whole) <= (expected ?? 0)) return { ...ofWhole, more: 0 };
  // Where the work adds tests only, those of the target that pass are the ones that do not pass without them.
  const alone = whole && addsTestsOnly && tests.length > 0 ? await unfailedAlone(field, after, planting, gate) : null;
  if (whole && alone && unfailed(whole) - alone.unfailed <= (expected ?? 0) && alone.all > 0)
    return { ...ofWhole, more: 0, isSettled: field.otherTests.named.length === 0 };
  const here = tests.length === 0 ? whole : ((await planting.countWithOld(tests, after, [gate])).get(gate) ?? null);
  if (!here || ranTests(here) === 0) return null;
  const ran = ranTests(here);
  const more = whole ? await madeBlindByTests({ field, after, whole, here, alone }, planting, gate) : 0;
  if (unfailed(here) <= (expected ?? 0)) return { ran, more, passedOnTarget: null, isSettled: false };
  const before = new Map(broken.map((each) => [each.path, each.before]));
  const onTarget = (await planting.countOnTarget(before, [gate])).get(gate);
  if (!onTarget) return null;
  const bySources = Math.max(0, unfailed(here) - unfailed(onTarget) - newCases(field.changed));
  const isSettled = tests.length === 0;
  return { ran, more: Math.max(more, bySources), passedOnTarget: unfailed(onTarget), isSettled };
}

/** A test that is skipped where the product is broken notices nothing either. */
const unfailed = ({ passed, skipped }: GateCounts): number => passed + skipped;

const allTests = (counts: GateCounts): number => ranTests(counts) + counts.skipped;

interface Alone {
  unfailed: number;
  all: number;
}

/** The tests of the work without the others. Null: the figures cannot be read. */
async function unfailedAlone(
  { otherTests }: CandidateCopy,
  after: Map<string, string>,
  { countWithout }: Pick<Planting, 'countWithout'>,
  gate: string,
): Promise<Alone | null> {
  const counts = (await countWithout(otherTests.free, after, [gate])).get(gate);
  return counts ? { unfailed: unfailed(counts), all: allTests(counts) } : null;
}

interface ByTests {
  field: CandidateCopy;
  after: Map<string, string>;
  /** With the tests of the work, and with those of the target instead. */
  whole: GateCounts;
  here: GateCounts;
  alone: Alone | null;
}

/**
 * How many tests of the target fail on broken code, unless the work's own tests run with them. The tests of the work may pass
 * there, so it is counted how many of them do without the others. 0: none, or it cannot be told.
 */
async function madeBlindByTests(
  { field, after, whole, here, ...known }: ByTests,
  planting: Pick<Planting, 'countWithout'>,
  gate: string,
): Promise<number> {
  const more = unfailed(whole) - unfailed(here);
  if (field.tests.length === 0 || more <= 0) return 0;
  // All that failed still fail, and new cases in old files are read one by one.
  if (!field.addsTestsOnly && whole.failed >= here.failed) return 0;
  const alone = known.alone ?? (await unfailedAlone(field, after, planting, gate));
  if (!alone || alone.all < allTests(whole) - allTests(here)) return 0;
  return Math.max(0, more - alone.unfailed);
}

/** Tests that sources have in themselves. */
const newCases = (sources: Source[]): number =>
  sources.reduce((sum, { before, after }) => sum + Math.max(0, casesIn(after.text) - casesIn(before.text)), 0);
