import { z } from 'zod';
import { Duration } from '../text/duration.ts';
import { patternFault } from './counts-pattern.ts';
import { FindingSeverity, GateSeverity } from './gate.ts';

const GateName = z
  .string()
  .regex(/^[a-z][a-z0-9_-]*$/, 'a gate name is lower-case letters, digits, - and _')
  .refine((name) => name !== 'integrity', 'the gate integrity is built in; choose another name');

/** How much a gate checks. It sets the time limit of a gate without its own `timeout`. */
export const GateLevel = z.enum(['quick', 'standard', 'thorough', 'comprehensive', 'release']);
export type GateLevel = z.infer<typeof GateLevel>;
const LEVEL_LIMIT_MS: Record<GateLevel, number> = {
  quick: 30_000,
  standard: 120_000,
  thorough: 600_000,
  comprehensive: 1_800_000,
  release: 7_200_000,
};

/** What a command of the project may get in addition to its small environment. */
export const commandSurroundings = {
  env: z.record(z.string(), z.string()).default({}),
  /** Names of environment variables that the command gets from the daemon's environment. */
  pass: z.array(z.string().min(1)).default([]),
};

/**
 * What a gate looks at. `command`: the exit code. `audit`: known vulnerabilities of dependencies. `scan`: the report of a
 * scanner, as SARIF or JSON. `secrets`: keys in the change. `docs`: the share of new public names that are documented.
 * `coverage`: the share of lines that tests reach. `ci`: what GitHub's checks say about the pushed commit.
 */
export const GateKind = z.enum(['command', 'audit', 'scan', 'secrets', 'docs', 'coverage', 'ci']);
export type GateKind = z.infer<typeof GateKind>;

const OWN_SETTINGS = ['failOn', 'threshold', 'report', 'ignore', 'checks', 'expects', 'counts'] as const;

interface KindTraits {
  /** What it runs without a `run` of its own; null: it needs one. Empty: it runs no program. */
  run: string | null;
  severity: GateSeverity;
  /** The settings of its own. */
  takes: (typeof OWN_SETTINGS)[number][];
  /** Its time limit, where its level does not say it. */
  timeoutMs?: number;
  threshold?: number;
}

export const GATE_KINDS: Record<GateKind, KindTraits> = {
  command: { run: null, severity: 'block', takes: ['expects', 'counts', 'report'] },
  audit: { run: 'npm audit --json', severity: 'block', takes: ['failOn', 'report', 'ignore'] },
  scan: { run: null, severity: 'block', takes: ['failOn', 'report', 'ignore'] },
  secrets: { run: '', severity: 'block', takes: ['ignore'] },
  docs: { run: '', severity: 'warn', takes: ['threshold', 'ignore'], threshold: 50 },
  coverage: { run: null, severity: 'warn', takes: ['threshold', 'report', 'ignore'], threshold: 80 },
  ci: { run: '', severity: 'block', takes: ['checks'], timeoutMs: 300_000 },
};
/** Files that say where an audit asks, and what it leaves out. */
const AUDIT_FILES = ['**/.npmrc', '**/.yarnrc*', '**/.pnpmfile.*', '**/pnpm-workspace.yaml'];

const relativePath = z
  .string()
  .min(1)
  .max(300)
  .refine((path) => !path.startsWith('/') && !path.split(/[\\/]/).includes('..'), 'is a path below the checkout');

export const GateConfig = z
  .strictObject({
    name: GateName,
    run: z.string().min(1, 'a gate needs a command in `run`').optional(),
    level: GateLevel.default('standard'),
    timeout: Duration.optional(),
    network: z.boolean().default(false),
    ...commandSurroundings,
    /** Gates that must have passed before this one runs. */
    needs: z.array(z.string().min(1)).default([]),
    /** The gate may change tracked files: its changes are committed, and all gates run again on the new tree. */
    fixes: z.boolean().default(false),
    /** May run at the same time as its neighbours that say so too. Optional, so that old settings keep their hash. */
    parallel: z.boolean().optional(),
    /** Further files that decide what this gate checks, as globs. */
    proves: z.array(z.string().min(1)).default([]),
    // All below are optional, so that old settings keep their hash.
    kind: GateKind.optional(),
    /** `warn`: work goes on when it fails. Reviewers and the next agent see it. */
    severity: GateSeverity.optional(),
    /** The least severity of a new finding that fails the gate. */
    failOn: FindingSeverity.optional(),
    /** In percent. */
    threshold: z.number().min(0).max(100).optional(),
    /** The file with the result, if it is not printed. Of a command: its JUnit report. */
    report: relativePath.optional(),
    /** Findings that do not count: their ids, or files as globs. */
    ignore: z.array(z.string().min(1)).optional(),
    /** The checks that must pass. Without them, all that are reported. */
    checks: z.array(z.string().min(1)).min(1).optional(),
    /** False: nobody checks whether the gate still notices faults. */
    tripwire: z.boolean().optional(),
    /**
     * `tests`: a run without tests, or without readable figures, does not pass. `exit_code`: only the exit code counts. Absent:
     * as `tests` from the moment that the target's run of the gate had readable figures.
     */
    expects: z.enum(['tests', 'exit_code']).optional(),
    /** A regular expression with the groups `passed`, `failed` and `skipped`, for output that is not known. */
    counts: z.string().min(1).optional(),
  })
  .superRefine((gate, context) => {
    const kind = gate.kind ?? 'command';
    const { run, takes } = GATE_KINDS[kind];
    const fault = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message });
    if (run === null && gate.run === undefined) fault('run', 'a gate needs a command in `run`');
    if (run === '' && gate.run !== undefined) fault('run', `a gate of kind ${kind} runs no command: remove \`run\``);
    if (kind === 'coverage' && gate.report === undefined)
      fault('report', 'a coverage gate needs the file with the figures: `report: coverage/coverage-summary.json`');
    const unusable = gate.counts === undefined ? null : patternFault(gate.counts);
    if (unusable !== null) fault('counts', `the pattern ${unusable}`);
    if (kind === 'command' && gate.counts !== undefined && gate.report !== undefined)
      fault('counts', 'the figures come from `counts` or from `report`: remove one');
    if (kind !== 'command' && gate.fixes) fault('fixes', `a gate of kind ${kind} changes no files: remove \`fixes\``);
    for (const key of OWN_SETTINGS)
      if (gate[key] !== undefined && !takes.includes(key)) fault(key, `a gate of kind ${kind} has no \`${key}\``);
  })
  .refine((gate) => !(gate.fixes && gate.parallel), {
    path: ['parallel'],
    message: 'a gate that changes files (`fixes: true`) must run alone: remove `parallel`, or remove `fixes`',
  })
  .transform((gate) => ({
    ...gate,
    run: gate.run ?? GATE_KINDS[gate.kind ?? 'command'].run ?? '',
    // The registry knows the vulnerabilities.
    ...(gate.kind === 'audit' ? { network: true, proves: [...gate.proves, ...AUDIT_FILES] } : {}),
    timeout: gate.timeout ?? GATE_KINDS[gate.kind ?? 'command'].timeoutMs ?? LEVEL_LIMIT_MS[gate.level],
  }));
export type GateConfig = z.infer<typeof GateConfig>;

/** Whether a failure of the gate stops the work. */
export const gateSeverity = ({ kind = 'command', severity }: Pick<GateConfig, 'kind' | 'severity'>): GateSeverity =>
  severity ?? GATE_KINDS[kind].severity;

/** Whether faults are planted to see that the gate notices them: a blocking command that changes no files. */
export const isTripwired = (gate: GateConfig): boolean =>
  (gate.kind ?? 'command') === 'command' && gateSeverity(gate) === 'block' && !gate.fixes && gate.tripwire !== false;
