import type { Mutant } from '@tidemill/core';
import { z } from 'zod';
import type { EngineDeps } from '../deps.ts';

/** What a gate noticed on the target or on a landed candidate. */
const Tripwire = z.object({
  file: z.string(),
  /** The content of the file in which it was tried. */
  oid: z.string(),
  line: z.number(),
  before: z.string(),
  after: z.string(),
  kind: z.enum(['value', 'stop', 'syntax']),
});
export type Tripwire = z.infer<typeof Tripwire>;

const KnownGate = z.object({
  /** The hash of the gate's settings. With other settings nothing is known. */
  config: z.string(),
  noticed: z.array(Tripwire),
  /** Hashes of file content and fault. */
  unnoticed: z.array(z.string()),
  /**
   * How much it notices, as far as it was tried with these tests and settings (`of`). `nothing`: not even files that cannot
   * be read. `syntax`: only these.
   */
  notices: z.object({ level: z.enum(['nothing', 'syntax']), of: z.string() }).nullable(),
  /** How many value faults were tried without success, for `notices.of`. */
  tries: z.number().default(0),
  /** How many tests passed on the target when every line was broken, and by which choice of faults. */
  survivors: z.object({ seed: z.string(), passed: z.number() }).nullable().default(null),
  /** The landed commit up to which a slow gate was checked. */
  checked: z.string().nullable().default(null),
});
export type KnownGate = z.infer<typeof KnownGate>;
const Known = z.object({ version: z.literal(1), gates: z.record(z.string(), KnownGate) });

/** A few per file are enough, and each is used again as long as its line is there. */
const MOST_NOTICED = 60;
const MOST_UNNOTICED = 400;

const NOTHING: Omit<KnownGate, 'config'> = {
  ...{ noticed: [], unnoticed: [], notices: null, tries: 0 },
  ...{ survivors: null, checked: null },
};

/** Which faults the gates notice, kept in the data folder. What cannot be read is found out again. */
export class KnownFaults {
  readonly #deps: EngineDeps;
  #gates: Record<string, KnownGate> | null = null;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
  }

  async of(gate: string): Promise<KnownGate> {
    const config = this.#deps.project.rules.gateConfigs?.[gate] ?? '';
    const known = (await this.#read())[gate];
    return known?.config === config ? known : { config, ...NOTHING };
  }

  async isNoticed(gate: string, mutant: Mutant, oid: string): Promise<boolean> {
    return (await this.of(gate)).noticed.some((known) => known.oid === oid && isSame(known, mutant));
  }

  async isUnnoticed(gate: string, mutant: Mutant, oid: string): Promise<boolean> {
    return (await this.of(gate)).unnoticed.includes(this.#key(mutant, oid));
  }

  async note(gate: string, mutant: Mutant, oid: string, isNoticed: boolean): Promise<void> {
    const known = await this.of(gate);
    const { file, line, before, after, kind } = mutant;
    const others = known.noticed.filter((other) => !isSame(other, mutant));
    const key = this.#key(mutant, oid);
    await this.#write(gate, {
      ...known,
      noticed: (isNoticed ? [...others, { file, oid, line, before, after, kind }] : others).slice(-MOST_NOTICED),
      unnoticed: (isNoticed ? known.unnoticed : [...new Set([...known.unnoticed, key])]).slice(-MOST_UNNOTICED),
      tries: isNoticed ? 0 : known.tries + 1,
      ...(isNoticed ? { notices: null } : {}),
    });
  }

  async noteLevel(gate: string, notices: KnownGate['notices']): Promise<void> {
    const known = await this.of(gate);
    await this.#write(gate, { ...known, notices, tries: notices?.of === known.notices?.of ? known.tries : 0 });
  }

  async noteSurvivors(gate: string, survivors: KnownGate['survivors']): Promise<void> {
    await this.#write(gate, { ...(await this.of(gate)), survivors });
  }

  async noteChecked(gate: string, commit: string): Promise<void> {
    const known = await this.of(gate);
    if (known.checked !== commit) await this.#write(gate, { ...known, checked: commit });
  }

  #key({ file, before, after }: Mutant, oid: string): string {
    return this.#deps.hash([file, oid, before, after].join('\0')).slice(0, 24);
  }

  async #read(): Promise<Record<string, KnownGate>> {
    if (this.#gates) return this.#gates;
    const text = (await this.#deps.tripwires?.read()) ?? null;
    this.#gates = (text === null ? null : parsedFaults(text)) ?? {};
    return this.#gates;
  }

  async #write(gate: string, known: KnownGate): Promise<void> {
    const names = this.#deps.gates.tripwired ?? [];
    const all = { ...(await this.#read()), [gate]: known };
    // Gates that are gone are forgotten.
    this.#gates = Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
    await this.#deps.tripwires?.write(JSON.stringify({ version: 1, gates: this.#gates }));
  }
}

/** Null: another version wrote it, or it is damaged. */
export function parsedFaults(text: string): Record<string, KnownGate> | null {
  try {
    const read = Known.safeParse(JSON.parse(text));
    return read.success ? read.data.gates : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

const isSame = (one: Omit<Mutant, 'kind'>, other: Omit<Mutant, 'kind'>) =>
  one.file === other.file && one.before === other.before && one.after === other.after;
