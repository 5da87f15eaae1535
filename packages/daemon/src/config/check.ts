import { existsSync, readdirSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import {
  type AgentConfig,
  CATEGORIES,
  Config,
  type ConfigProblem,
  type GateKind,
  gateSeverity,
  INTEGRITY_GATE,
  Mode,
  nearest,
  type Pipeline,
} from '@tidemill/contract';
import { type Complaint, commandFaults } from './command-faults.ts';
import { deliveryFaults } from './delivery-faults.ts';
import { BadFile, YamlFile } from './document.ts';
import { loadPipelines } from './pipelines.ts';
import { isMapping, withSafeValues } from './safe-values.ts';

export const CONFIG_FILE = '.tidemill/config.yaml';

export interface Settings {
  config: Config;
  pipelines: Record<string, Pipeline>;
  warnings: string[];
  /** The warnings about values that were replaced by safe ones. */
  replaced: string[];
}

/** No real config is nested this deeply. */
const MOST_DEPTH = 500;

export interface CheckedSettings {
  problems: ConfigProblem[];
  warnings: string[];
  /** Null if there are problems. */
  settings: Settings | null;
}

/** Whether nothing would show that a change works, and nobody allowed that. */
export const isUntested = ({ gates = [], untested = false }: Partial<Config>) =>
  !untested && gates.every(({ kind }) => kind !== undefined && NOT_RUN.includes(kind));
const NOT_RUN: GateKind[] = ['secrets', 'docs', 'audit'];
export const UNTESTED =
  'no gate tests a change, so no task starts; add a gate with the command that runs the tests, or set `untested: true`';

/** Returns why an agent cannot be started, or null. */
export type AbsenceOf = (agent: AgentConfig, root: string) => Promise<string | null>;

/**
 * Checks a config text and the files it refers to. Reports every problem, also in parts next to an invalid one. A missing
 * program is a problem if `absenceOf` is given, otherwise a warning.
 */
export async function checkSettings(root: string, text: string, absenceOf?: AbsenceOf): Promise<CheckedSettings> {
  if (depthOf(text) > MOST_DEPTH)
    return {
      problems: [{ line: 1, message: 'the file is nested too deeply' }],
      warnings: [],
      settings: null,
    };
  let file: YamlFile;
  let given: unknown;
  try {
    file = new YamlFile(CONFIG_FILE, text);
    given = file.content();
  } catch (error) {
    if (!(error instanceof BadFile)) throw error;
    return { problems: error.faults.map(problemOf), warnings: [], settings: null };
  }
  const { content, replaced } = withSafeValues(given, categoriesOf(root));
  const adjusted = replaced.map(({ path, text: why }) => `${CONFIG_FILE}:${file.lineOf(path)}: ${why}`);
  const parsed = Config.safeParse(content);
  const valid: Partial<Config> = parsed.success ? parsed.data : validParts(content);
  const faults = parsed.success ? [] : file.faultsOf(parsed.error, content, Config);
  const gates = gateNames(valid.gates?.filter((gate) => gateSeverity(gate) === 'block') ?? namedIn(content));
  const { pipelines, problems: ofPipelines } = await loadPipelines(root, gates);
  const missing = await missingPrograms(valid, root, absenceOf);
  const found = [
    ...agentFaults(valid, root),
    ...commandFaults(valid),
    ...channelFaults(valid),
    ...deliveryFaults(valid),
    ...(absenceOf ? missing : []),
    ...pipelineFaults(valid, Object.keys(pipelines), ofPipelines.length > 0),
  ];
  const problems = [...[...faults, ...file.located(found)].map(problemOf), ...ofPipelines];
  const warnings = [...adjusted];
  if (valid.gates && isUntested(valid)) warnings.push(`${CONFIG_FILE}: ${UNTESTED}`);
  else if (valid.gates?.length === 0)
    warnings.push(`${CONFIG_FILE}: no gates are configured, so only the built-in integrity gate checks a change`);
  const install = valid.gates?.findIndex(({ name }) => name === 'install') ?? -1;
  if (install >= 0 && valid.prepare?.length === 0)
    warnings.push(
      `${CONFIG_FILE}:${file.lineOf(['gates', install])}: the gate install checks nothing and slows every verification; move its command to \`prepare\``,
    );
  if (!absenceOf)
    for (const { line, text: why } of file.located(missing)) warnings.push(`${CONFIG_FILE}:${line}: ${why}`);
  const isValid = parsed.success && problems.length === 0;
  return {
    problems: problems.sort((a, b) => (a.line ?? Number.MAX_SAFE_INTEGER) - (b.line ?? Number.MAX_SAFE_INTEGER)),
    warnings,
    settings: isValid ? { config: parsed.data, pipelines, warnings, replaced: adjusted } : null,
  };
}

/** The built-in categories of the loop, and those that the project has added. */
function categoriesOf(root: string): string[] {
  const folder = join(root, '.tidemill', 'categories');
  const own = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.md')) : [];
  return [...CATEGORIES, ...own.map((name) => name.slice(0, -3))];
}

/** Nesting depth; the YAML parser gets slow with many open brackets. */
function depthOf(text: string): number {
  let open = 0;
  let most = 0;
  for (const bracket of text.match(/[[\]{}]/g) ?? []) {
    open += bracket === '[' || bracket === '{' ? 1 : -1;
    most = Math.max(most, open);
  }
  return most;
}

/** The problem with file and line in one text. */
export const problemText = ({ line, message }: ConfigProblem) =>
  line === null ? message : `${CONFIG_FILE}:${line}: ${message}`;

export const gateNames = (gates: { name: string }[]) => [INTEGRITY_GATE, ...gates.map(({ name }) => name)];

const problemOf = ({ line, text }: { line: number; text: string }): ConfigProblem => ({ line, message: text });

/** The valid top-level values, so that they can be checked even if others are invalid. */
function validParts(content: unknown): Partial<Config> {
  if (!isMapping(content)) return {};
  const parts = Object.entries(Config.shape).flatMap(([key, schema]) => {
    const result = schema.safeParse(content[key]);
    return result.success ? [[key, result.data]] : [];
  });
  return Object.fromEntries(parts) as Partial<Config>;
}

/** The names of gates in a list that may be invalid. */
function namedIn(content: unknown): { name: string }[] {
  const gates = isMapping(content) && Array.isArray(content.gates) ? content.gates : [];
  return gates.flatMap((gate: unknown) =>
    isMapping(gate) && typeof gate.name === 'string' ? [{ name: gate.name }] : [],
  );
}

/** Entries with such a name are used by nothing but `tidemill replay`. */
const REPLAY_AGENT = 'replay-';

function agentFaults({ agents = {} }: Partial<Config>, root: string): Complaint[] {
  const names = Object.keys(agents);
  const spares = Object.values(agents).flatMap((agent) => ('fallback' in agent ? agent.fallback : []));
  const known = ['default', ...Mode.options, ...spares];
  return Object.entries(agents).flatMap(([name, agent]) => {
    const unknown =
      'fallback' in agent ? agent.fallback.find((other) => !names.includes(other) || other === name) : undefined;
    if (unknown !== undefined)
      return [
        {
          path: ['agents', name, 'fallback'],
          message: `agents.${name}: fallback "${unknown}" is not another entry of agents`,
        },
      ];
    if (!known.includes(name) && !name.startsWith(REPLAY_AGENT)) {
      const guess = nearest(name, known);
      const advice = guess
        ? `did you mean "${guess}"?`
        : `use default or a mode: ${Mode.options.join(', ')}; or ${REPLAY_AGENT}NAME for one that is only compared`;
      return [{ path: ['agents', name], message: `unknown agent "${name}"; ${advice}` }];
    }
    if (agent.type !== 'scripted') return [];
    const script = isAbsolute(agent.script) ? agent.script : join(root, agent.script);
    if (existsSync(script)) return [];
    return [
      { path: ['agents', name, 'script'], message: `agents.${name}: the scenario file ${agent.script} does not exist` },
    ];
  });
}

/** Programs that cannot be started, unless the agent has a fallback. */
async function missingPrograms(
  { agents = {} }: Partial<Config>,
  root: string,
  absenceOf?: AbsenceOf,
): Promise<Complaint[]> {
  const found: Complaint[] = [];
  for (const [name, agent] of Object.entries(agents)) {
    const why = absenceOf ? await absenceOf(agent, root) : notThereYet(agent, root);
    const hasFallback = absenceOf && 'fallback' in agent && agent.fallback.length > 0;
    const key = agent.type === 'command' || agent.type === 'acp' ? 'command' : 'program';
    if (why !== null && !hasFallback) found.push({ path: ['agents', name, key], message: `agents.${name}: ${why}` });
  }
  return found;
}

function notThereYet(agent: AgentConfig, root: string): string | null {
  const program = agent.type === 'command' ? agent.command[0] : undefined;
  return program?.startsWith('.') && !existsSync(join(root, program))
    ? `${program} does not exist in the repository yet`
    : null;
}

/** Alerts sent to an unknown channel would be lost. */
function channelFaults({ channels, notify }: Partial<Config>): Complaint[] {
  if (!channels || !notify) return [];
  const known = Object.keys(channels);
  return Object.entries(notify.channels).flatMap(([severity, names]) =>
    names
      .filter((name) => !known.includes(name))
      .map((name) => {
        const guess = nearest(name, known);
        const advice = guess ? `did you mean "${guess}"?` : `the channels are ${known.join(', ') || 'none yet'}`;
        return { path: ['notify', 'channels', severity], message: `unknown channel "${name}"; ${advice}` };
      }),
  );
}

/** Skipped while a pipeline file is broken, because its name is unknown then. */
function pipelineFaults({ pipeline }: Partial<Config>, known: string[], isUnsure: boolean): Complaint[] {
  if (pipeline === undefined || isUnsure || known.includes(pipeline)) return [];
  const guess = nearest(pipeline, known);
  const advice = guess ? `did you mean "${guess}"?` : `the pipelines are ${known.join(', ')}`;
  return [{ path: ['pipeline'], message: `unknown pipeline "${pipeline}"; ${advice}` }];
}
