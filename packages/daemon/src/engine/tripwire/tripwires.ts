import { type Mutant, mutantsOf, planted } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import type { Baseline } from '../stages/baseline.ts';
import {
  brokenTexts,
  type CandidateCopy,
  candidateCopyOf,
  faultsIn,
  nearest,
  type PlantedFault,
} from './candidate-copy.ts';
import { examineChangedLines } from './changed-lines.ts';
import { KnownFaults } from './known-faults.ts';
import { failingInOtherSurroundings } from './other-surroundings.ts';
import {
  type BlindGate,
  type Examined,
  gateTimes,
  type Planting,
  plantingOf,
  type TrialCandidate,
  testsRun,
} from './planting.ts';
import { blindTests } from './survivors.ts';
import type { GateSight, TrialAsker } from './trial.ts';

/** Faults that are planted before a gate counts as one that notices only unreadable files, per landing and in all. */
const MOST_TRIES = 4;
const MOST_TRIES_IN_ALL = 10;
/** Faults that a gate noticed before and does not notice any more, until it counts as blind. */
const STRIKES = 2;
/** A gate that takes longer is tried after the landing. */
const SLOW_MS = 60_000;

interface Look extends TrialCandidate, Planting {
  field: CandidateCopy;
  seed: string;
}

/**
 * Finds out whether gates still notice faults, by planting small faults in throw-away copies:
 *
 *   fault in the candidate ──gate fails──▶ it sees
 *        └─ passes ──▶ the same fault in the target ──passes──▶ a fault that nobody tests: another one
 *                              └─ fails ──▶ a strike; the second one: the gate is blind
 */
export class Tripwires {
  readonly #deps: EngineDeps;
  readonly #baseline: Pick<Baseline, 'redAmong'>;
  readonly #known: KnownFaults;
  /** Searches in the background, by gate and commit. */
  #rounds = new Map<string, number>();

  constructor(deps: EngineDeps, baseline: Pick<Baseline, 'redAmong'>) {
    this.#deps = deps;
    this.#baseline = baseline;
    this.#known = new KnownFaults(deps);
  }

  /** The gates for which it is checked now. `slow`: those that are checked after a landing. */
  async gatesFor(commit: string, which: 'quick' | 'slow'): Promise<string[]> {
    const { gates, tripwires } = this.#deps;
    if (!tripwires || !gates.tripwired?.length) return [];
    const times = await gateTimes(this.#deps, commit);
    return gates.tripwired.filter((gate) => (times.get(gate) ?? 0) > SLOW_MS === (which === 'slow'));
  }

  /** Returns those of the gates that the candidate has made blind. */
  async blindAmong(candidate: TrialCandidate, gates: string[]): Promise<BlindGate[]> {
    if (gates.length === 0) return [];
    const { commit, base } = candidate;
    const seed = this.#deps.ids.next('tripwire');
    const field = await candidateCopyOf(this.#deps, commit, base, seed);
    if (field.changed.length + field.concerned.length + field.others.length === 0) return [];
    const look = await this.#lookAt(candidate, field, seed);
    const { seeing: readers, blind } = await this.#withReaders(look, gates, 'landing');
    const [times, usual] = await Promise.all([gateTimes(this.#deps, commit), testsRun(this.#deps, commit)]);
    const about = { ...look, times, usual };
    const tests = await blindTests(this.#deps, about, this.#known, readers);
    blind.push(...tests.blind);
    // Code that looks at its own file does not act where that file is broken.
    const known = field.isApart ? [] : tests.seeing;
    const seeing = without(readers, tests.blind).filter((gate) => !known.includes(gate));
    const { changed, concerned, others } = nearest(field);
    const common = await this.#examine(look, changed, seeing);
    const again = await examineChangedLines(this.#deps, look, changed, common.open);
    const first = { blind: [...common.blind, ...again.blind], open: again.open };
    blind.push(...first.blind);
    // Code that looks at its own file may be blind only as long as that file is unchanged. Another part may blind others.
    const second = field.isApart ? without(seeing, first.blind) : first.open;
    const near = await this.#examine(look, concerned, second);
    const last = await this.#examine(look, others, near.open);
    blind.push(...near.blind, ...last.blind);
    for (const gate of last.open.filter((open) => first.open.includes(open))) await this.#noteWeak(look, gate);
    return blind;
  }

  /** Returns those of the gates that the candidate passes only where it is proven. */
  async failingElsewhere(candidate: TrialCandidate, gates: string[]): Promise<BlindGate[]> {
    const times = await gateTimes(this.#deps, candidate.commit);
    return failingInOtherSurroundings(
      this.#deps,
      candidate,
      plantingOf(this.#deps, this.#baseline, candidate, times),
      gates,
    );
  }

  /** The landed commit up to which the gate was checked after landings; null: none yet. */
  async checkedAt(gate: string): Promise<string | null> {
    return (await this.#known.of(gate)).checked;
  }

  noteChecked(gate: string, commit: string): Promise<void> {
    return this.#known.noteChecked(gate, commit);
  }

  /**
   * Tries a few faults on the target, in files of which none is known, so that they are known when something lands. Returns
   * false when there is nothing left to try.
   */
  async search(commit: string, gate: string, asker: TrialAsker): Promise<boolean> {
    const { notices, noticed, tries } = await this.#known.of(gate);
    const rounds = (this.#rounds.get(`${gate} ${commit}`) ?? 0) + 1;
    if (tries >= MOST_TRIES_IN_ALL || rounds > ENOUGH) return false;
    const seed = this.#deps.ids.next('tripwire');
    const field = await candidateCopyOf(this.#deps, commit, commit, seed);
    const { others } = nearest(field);
    const here = noticed.filter((known) => others.some(({ before }) => before.oid === known.oid));
    const unknown = others.filter(({ path }) => !here.some(({ file }) => file === path));
    if (notices?.of === field.surroundings || here.length >= ENOUGH || unknown.length === 0) return false;
    this.#rounds = new Map([...this.#rounds].slice(-MOST_ROUNDS)).set(`${gate} ${commit}`, rounds);
    const look = await this.#lookAt({ commit, base: commit, asker }, field, seed);
    const { seeing } = await this.#withReaders(look, [gate], 'search');
    const { open } = await this.#examine(look, unknown, seeing);
    for (const weak of open) await this.#noteWeak(look, weak);
    return true;
  }

  async #lookAt(candidate: TrialCandidate, field: CandidateCopy, seed: string): Promise<Look> {
    const times = await gateTimes(this.#deps, candidate.commit);
    return { ...candidate, ...plantingOf(this.#deps, this.#baseline, candidate, times), field, seed };
  }

  /**
   * Leaves out gates that read no program, and those that notice unreadable files only. These are checked here. Whether
   * such a gate notices more with other tests is found out in the background: a landing does not wait for it.
   */
  async #withReaders(
    look: Look,
    gates: string[],
    during: 'landing' | 'search',
  ): Promise<{ seeing: string[]; blind: BlindGate[] }> {
    const { field } = look;
    const unknown: string[] = [];
    const seeing: string[] = [];
    for (const gate of gates) {
      const { notices, noticed } = await this.#known.of(gate);
      const isKnown = notices?.of === field.surroundings || (during === 'landing' && notices?.level === 'syntax');
      const level = isKnown ? notices.level : null;
      if (level === 'nothing') continue;
      if (level === 'syntax' || noticed.length === 0) unknown.push(gate);
      if (level !== 'syntax') seeing.push(gate);
    }
    if (unknown.length === 0) return { seeing, blind: [] };
    const sights = await look.onCandidate(brokenTexts(field, 'after'), unknown);
    const passed = unknown.filter((gate) => sights.get(gate) === 'passed');
    const onTarget =
      passed.length === 0 || look.commit === look.base
        ? sights
        : await look.onTarget(brokenTexts(field, 'before'), passed);
    const blind = passed.filter((gate) => onTarget.get(gate) === 'noticed');
    for (const gate of passed)
      if (onTarget.get(gate) === 'passed')
        await this.#known.noteLevel(gate, { level: 'nothing', of: field.surroundings });
    return {
      seeing: seeing.filter((gate) => !passed.includes(gate)),
      blind: blind.map((gate) => ({ gate, mutants: [] })),
    };
  }

  /** Plants one fault after the other until each gate has noticed one, or is blind. `open`: nothing is known. */
  async #examine(look: Look, sources: CandidateCopy['changed'], gates: string[]): Promise<Examined> {
    let open = gates;
    const strikes = new Map<string, Mutant[]>();
    const noticed = (await Promise.all(gates.map((gate) => this.#known.of(gate)))).flatMap((known) => known.noticed);
    let tries = 0;
    for (const fault of faultsIn(this.#deps, sources, look.seed, noticed)) {
      if (open.length === 0 || tries === MOST_TRIES) break;
      const asked = await this.#notKnownAsUnnoticed(fault, open);
      if (asked.length === 0) continue;
      tries += 1;
      const sights = await this.#plant(look, fault, asked);
      for (const gate of asked) {
        const sight = sights.get(gate);
        if (sight === 'strike') strikes.set(gate, [...(strikes.get(gate) ?? []), fault.mutant]);
        if (sight === 'strike') strikes.get(gate)!.push(...(await this.#again(look, fault, gate)));
        const isOver = sight === 'noticed' || (strikes.get(gate)?.length ?? 0) >= STRIKES;
        if (sight === 'noticed') strikes.delete(gate);
        if (isOver) open = open.filter((other) => other !== gate);
      }
    }
    const blind = [...strikes].map(([gate, mutants]) => ({ gate, mutants }));
    return { blind, open: without(open, blind) };
  }

  /** Another fault of the same line: only some lines may have become invisible, while others are still tested. */
  async #again(look: Look, { mutant, source }: PlantedFault, gate: string): Promise<Mutant[]> {
    const other = mutantsOf(source.path, source.before.text).find(
      (each) => each.kind !== 'syntax' && each.before === mutant.before && each.after !== mutant.after,
    );
    if (!other || planted(source.after.text, other) === null) return [];
    const sights = await this.#plant(look, { mutant: other, source }, [gate]);
    return sights.get(gate) === 'strike' ? [other] : [];
  }

  async #notKnownAsUnnoticed({ mutant, source }: PlantedFault, gates: string[]): Promise<string[]> {
    const asked: string[] = [];
    for (const gate of gates) if (!(await this.#known.isUnnoticed(gate, mutant, source.before.oid))) asked.push(gate);
    return asked;
  }

  /** One fault in the candidate and, where that passes, in the target. `strike`: only the target notices it. */
  async #plant(
    look: Look,
    { mutant, source }: PlantedFault,
    gates: string[],
  ): Promise<Map<string, GateSight | 'strike'>> {
    const { path, before, after } = source;
    const faulty = (text: string) => new Map([[path, planted(text, mutant)!]]);
    const sights = new Map<string, GateSight | 'strike'>(await look.onCandidate(faulty(after.text), gates));
    for (const gate of gates) if (sights.get(gate) === 'noticed') await this.#known.note(gate, mutant, after.oid, true);
    const passed = gates.filter((gate) => sights.get(gate) === 'passed');
    if (passed.length === 0) return sights;
    if (look.commit === look.base) {
      for (const gate of passed) await this.#known.note(gate, mutant, before.oid, false);
      return sights;
    }
    const unsure: string[] = [];
    for (const gate of passed) {
      if (await this.#known.isNoticed(gate, mutant, before.oid)) sights.set(gate, 'strike');
      else unsure.push(gate);
    }
    const onTarget = await look.onTarget(faulty(before.text), unsure);
    for (const gate of unsure) {
      if (onTarget.get(gate) === 'noticed') sights.set(gate, 'strike');
      if (onTarget.get(gate) !== 'unknown')
        await this.#known.note(gate, mutant, before.oid, onTarget.get(gate) === 'noticed');
    }
    return sights;
  }

  /** After enough faults that it did not notice, only unreadable files are tried, as long as the tests stay the same. */
  async #noteWeak({ field }: Look, gate: string): Promise<void> {
    const { noticed, tries } = await this.#known.of(gate);
    if (noticed.length === 0 && tries >= MOST_TRIES)
      await this.#known.noteLevel(gate, { level: 'syntax', of: field.surroundings });
  }
}

const MOST_ROUNDS = 100;
/** Faults that are looked for in advance, in as many files. */
const ENOUGH = 3;

const without = (gates: string[], blind: BlindGate[]): string[] =>
  gates.filter((gate) => !blind.some((found) => found.gate === gate));
