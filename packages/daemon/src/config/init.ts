import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError, type GateKind } from '@tidemill/contract';
import { isBesideCode, sourceGlobs } from '@tidemill/core';
import { findProgram } from '../process/program.ts';
import { CONFIG_FILE } from './check.ts';
import { detect } from './detect/detect.ts';
import { styleOf } from './file-style.ts';
import { includable, projectFiles, withIgnored } from './ignored.ts';
import { configText } from './init-text.ts';
import { loadSettings } from './load.ts';
import { type AuditTrial, protectingGates } from './protection.ts';

export interface InitResult {
  file: string;
  /** False when a config already existed; it is not changed. */
  written: boolean;
  target: string;
  tools: string[];
  prepare: { run: string }[];
  include: string[];
  source: string[];
  gates: { name: string; run: string; kind?: GateKind }[];
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
  /** Absent: nothing is asked, and no gate of this kind is written. */
  auditAnswers?: AuditTrial;
}): Promise<InitResult> {
  const { root } = input;
  const env = { PATH: process.env.PATH ?? '' };
  const detected = await detect(root, async (program) => 'file' in (await findProgram(program, env, root)));
  const { prepare, warnings: loose } = await withIgnored(root, detected.prepare);
  const include = await includable(root, (name) => existsSync(join(root, name)));
  const file = join(input.root, CONFIG_FILE);
  await mkdir(dirname(file), { recursive: true });
  let written = true;
  // A config that exists is not changed, so nobody has to be asked.
  const answers = existsSync(file) ? undefined : input.auditAnswers;
  const taken = detected.gates.map(({ name }) => name);
  const protection = await protectingGates(root, taken, answers ?? (async () => false));
  try {
    const { gates } = detected;
    const source = sourceGlobs(await projectFiles(root));
    const isEmpty = (await readdir(root)).every(isBesideCode);
    const parts = { ...input, prepare, include, source, gates, protecting: protection.gates, isEmpty };
    await writeFile(file, configText(parts, await styleOf(root)), { flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    written = false;
  }
  const { config, warnings } = await loadSettings(input.root);
  // The proposal is reported only for a config that contains it.
  const more = written ? [...detected.notes, ...(answers ? protection.notes : []), ...loose] : [];
  return {
    file: CONFIG_FILE,
    written,
    target: config.target,
    tools: detected.tools,
    prepare: config.prepare.map(({ run }) => ({ run })),
    include: config.include,
    source: config.source,
    gates: config.gates.map(({ name, run, kind }) => ({ name, run, ...(kind ? { kind } : {}) })),
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
