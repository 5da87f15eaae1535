import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError } from '@tidemill/contract';
import { sourceGlobs } from '@tidemill/core';
import { findProgram } from '../process/program.ts';
import { CONFIG_FILE } from './check.ts';
import { detect } from './detect/detect.ts';
import { styleOf } from './file-style.ts';
import { ignoreWarnings, includable, projectFiles } from './ignored.ts';
import { configText } from './init-text.ts';
import { loadSettings } from './load.ts';

export interface InitResult {
  file: string;
  /** False when a config already existed; it is not changed. */
  written: boolean;
  target: string;
  tools: string[];
  prepare: { run: string }[];
  include: string[];
  source: string[];
  gates: { name: string; run: string }[];
  warnings: string[];
}

/** Writes a project's config from what it detects in the repository. Commits nothing, overwrites nothing. */
export async function initProject(input: {
  root: string;
  target: string;
  /** The agent's entry. */
  agent: object;
  /** How to install it, if it is not installed yet. */
  install?: string | null;
}): Promise<InitResult> {
  const { root } = input;
  const env = { PATH: process.env.PATH ?? '' };
  const detected = await detect(root, async (program) => 'file' in (await findProgram(program, env, root)));
  const include = await includable(root, (name) => existsSync(join(root, name)));
  const file = join(input.root, CONFIG_FILE);
  await mkdir(dirname(file), { recursive: true });
  let written = true;
  try {
    const { prepare, gates } = detected;
    const source = sourceGlobs(await projectFiles(root));
    await writeFile(file, configText({ ...input, prepare, include, source, gates }, await styleOf(root)), {
      flag: 'wx',
    });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    written = false;
  }
  const { config, warnings } = await loadSettings(input.root);
  const isRepository = existsSync(join(root, '.git'));
  // The proposal is reported only for a config that contains it.
  const proposed = written ? detected : { prepare: [], notes: [] };
  const more = [...proposed.notes, ...(await ignoreWarnings(root, proposed.prepare, isRepository))];
  return {
    file: CONFIG_FILE,
    written,
    target: config.target,
    tools: detected.tools,
    prepare: config.prepare.map(({ run }) => ({ run })),
    include: config.include,
    source: config.source,
    gates: config.gates.map(({ name, run }) => ({ name, run })),
    warnings: [...warnings, ...more],
  };
}

/** Splits as a shell does, with quotes and backslashes only. */
export function splitWords(line: string): string[] {
  const words = [...line.matchAll(/(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+/g)].map(([word]) =>
    word.replace(/\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'/g, (_, escaped, double, single) =>
      escaped !== undefined ? escaped : double !== undefined ? double.replace(/\\(.)/g, '$1') : single,
    ),
  );
  if (words.length === 0)
    throw new AppError('bad_input', 'the agent command is empty', { hint: 'For example: --agent "./my-agent --fast"' });
  return words;
}
