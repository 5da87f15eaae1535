import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { AppError, Config, INTEGRITY_GATE, Mode, Pipeline, type ProjectRules } from '@tidemill/contract';
import { builtinPipelines, checkPipeline } from '@tidemill/core';
import { type Path, YamlFile } from './document.ts';
import { nearest } from './nearest.ts';
import { withSafeValues } from './safe-values.ts';

export const CONFIG_FILE = '.tidemill/config.yaml';
const PIPELINE_FOLDER = '.tidemill/pipelines';

export interface Settings {
  config: Config;
  pipelines: Record<string, Pipeline>;
  warnings: string[];
  /** Those of the warnings that tell of a value which was replaced by a safe one. */
  replaced: string[];
}

/** A project's settings, checked as a whole: what is returned can be worked with. */
export async function loadSettings(root: string): Promise<Settings> {
  const file = new YamlFile(CONFIG_FILE, await read(root));
  const adjusted: string[] = [];
  const config = file.parse(Config, (given) => {
    const { content, replaced } = withSafeValues(given);
    for (const { path, text } of replaced) adjusted.push(`${CONFIG_FILE}:${file.lineOf(path)}: ${text}`);
    return content;
  });
  const warnings = [...adjusted];
  file.refuse([...agentFaults(config, root), ...gateFaults(config), ...channelFaults(config)]);
  if (config.gates.length === 0) {
    warnings.push(
      `${CONFIG_FILE}: no gates are configured, so nothing but the built-in integrity gate proves a change`,
    );
  }
  for (const [name, agent] of Object.entries(config.agents)) {
    const program = agent.type === 'command' ? agent.command[0] : undefined;
    if (program?.startsWith('.') && !existsSync(join(root, program))) {
      const line = file.lineOf(['agents', name, 'command']);
      warnings.push(`${CONFIG_FILE}:${line}: agents.${name}: there is no ${program} in the repository yet`);
    }
  }
  const pipelines = await loadPipelines(root, gateNames(config));
  if (!(config.pipeline in pipelines)) {
    const known = Object.keys(pipelines);
    const guess = nearest(config.pipeline, known);
    const advice = guess ? `did you mean "${guess}"?` : `the pipelines are ${known.join(', ')}`;
    file.refuse([{ path: ['pipeline'], message: `unknown pipeline "${config.pipeline}"; ${advice}` }]);
  }
  return { config, pipelines, warnings, replaced: adjusted };
}

export function rulesFrom(config: Config, pipelines: Record<string, Pipeline>): ProjectRules {
  return {
    target: config.target,
    defaultPipeline: config.pipeline,
    gates: gateNames(config),
    pipelines,
    reviewPlans: config.reviewPlans,
    critical: config.critical,
    hilConfig: config.hilConfig,
    budget: { ...config.budget, timeZone: config.budget.timeZone ?? ownTimeZone() },
  };
}

const gateNames = (config: Config) => [INTEGRITY_GATE, ...config.gates.map((gate) => gate.name)];

async function read(root: string): Promise<string> {
  try {
    return await readFile(join(root, CONFIG_FILE), 'utf8');
  } catch (cause) {
    throw new AppError('bad_config', `there is no ${CONFIG_FILE} in ${root}`, {
      hint: 'Run `tidemill init` in the repository to make one.',
      cause,
    });
  }
}

function agentFaults(config: Config, root: string): { path: Path; message: string }[] {
  const names = Object.keys(config.agents);
  const spares = Object.values(config.agents).flatMap((agent) => ('fallback' in agent ? agent.fallback : []));
  const known = ['default', ...Mode.options, ...spares];
  return Object.entries(config.agents).flatMap(([name, agent]) => {
    const unknown =
      'fallback' in agent ? agent.fallback.find((other) => !names.includes(other) || other === name) : undefined;
    if (unknown !== undefined)
      return [
        {
          path: ['agents', name, 'fallback'],
          message: `agents.${name}: fallback names "${unknown}", which is no other entry of agents`,
        },
      ];
    if (!known.includes(name)) {
      const guess = nearest(name, known);
      const advice = guess ? `did you mean "${guess}"?` : `it is default or a mode: ${Mode.options.join(', ')}`;
      return [{ path: ['agents', name], message: `unknown agent "${name}"; ${advice}` }];
    }
    if (agent.type !== 'scripted') return [];
    const script = isAbsolute(agent.script) ? agent.script : join(root, agent.script);
    if (existsSync(script)) return [];
    return [{ path: ['agents', name, 'script'], message: `agents.${name}: there is no scenario file ${agent.script}` }];
  });
}

function gateFaults(config: Config): { path: Path; message: string }[] {
  return config.gates.flatMap((gate, index) =>
    config.gates.findIndex((other) => other.name === gate.name) < index
      ? [{ path: ['gates', index, 'name'], message: `a gate named "${gate.name}" is there already; names are unique` }]
      : [],
  );
}

/** A severity that is sent to a channel nobody configured would be sent nowhere. */
function channelFaults({ channels, notify }: Config): { path: Path; message: string }[] {
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

/** The built-in pipelines and the project's own; one of its own may take a built-in's name. */
async function loadPipelines(root: string, gates: string[]): Promise<Record<string, Pipeline>> {
  const folder = join(root, PIPELINE_FOLDER);
  const names = existsSync(folder) ? (await readdir(folder)).filter((name) => /\.ya?ml$/.test(name)).sort() : [];
  const pipelines = { ...builtinPipelines };
  const files = new Map<string, string>();
  for (const name of names) {
    const file = new YamlFile(`${PIPELINE_FOLDER}/${name}`, await readFile(join(folder, name), 'utf8'));
    const pipeline = file.parse(Pipeline);
    file.refuse(checkPipeline(pipeline, gates));
    const other = files.get(pipeline.name);
    if (other)
      file.refuse([{ path: ['name'], message: `the pipeline "${pipeline.name}" is also defined in ${other}` }]);
    files.set(pipeline.name, name);
    pipelines[pipeline.name] = pipeline;
  }
  return pipelines;
}

const ownTimeZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;
