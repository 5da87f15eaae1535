import { ranTests } from '@tidemill/contract';
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
 *   candidate, with the target's tests ──as few pass as on the target──▶ they see
 *        └─ more ──▶ twice with other faults ──▶ still more: blind
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
    if (more > 0) blind.push({ gate, mutants: [], tests: more });
    // Tests of the change itself can make others blind, and some runners stop after the first group that fails.
    else if (first.more === 0 && look.field.tests.length === 0 && first.ran >= (look.usual.get(gate) ?? 1))
      seeing.push(gate);
  }
  return { blind, seeing };
}

interface Survivors {
  ran: number;
  /** How many more than on the target. */
  more: number;
  /** Null: it was not needed. */
  passedOnTarget: number | null;
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
  const { tests } = field;
  const counts = await (tests.length === 0
    ? planting.countOnCandidate(after, [gate])
    : planting.countWithOld(tests, after, [gate]));
  const here = counts.get(gate);
  if (!here || ranTests(here) === 0) return null;
  const ran = ranTests(here);
  if (here.passed === 0 || (expected !== null && here.passed <= expected))
    return { ran, more: 0, passedOnTarget: null };
  const before = new Map(broken.map((each) => [each.path, each.before]));
  const onTarget = (await planting.countOnTarget(before, [gate])).get(gate);
  if (!onTarget) return null;
  const more = Math.max(0, here.passed - onTarget.passed - newCases(field.changed));
  return { ran, more, passedOnTarget: onTarget.passed };
}

/** Tests that sources have in themselves. */
const newCases = (sources: Source[]): number =>
  sources.reduce((sum, { before, after }) => sum + Math.max(0, casesIn(after.text) - casesIn(before.text)), 0);
