import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError, guardFile, plainLine, withoutSecrets } from '@tidemill/contract';
import { stringify } from 'yaml';
import { assetDir } from '../assets.ts';
import type { ExaminedGuard, LearnedGuards } from '../ports.ts';
import { deedsOf } from './deeds.ts';
import { everydayProblem } from './everyday-calls.ts';
import type { Guard } from './guard.ts';
import { loadGuards } from './load.ts';
import { parseGuards } from './parse.ts';
import { trialOf } from './trial.ts';

interface LearnedGuardsOptions {
  root: string;
  dataDir: string;
  /** The commands of the gates: a guard that refuses one of them would keep agents from testing. */
  gateCommands(): Promise<string[]>;
}

const MOST_REASON = 400;
const MOST_NAME = 60;
const SOURCE = 'the guard';

export function createLearnedGuards({ root, dataDir, gateCommands }: LearnedGuardsOptions): LearnedGuards {
  const fileOf = (name: string) => join(root, guardFile(name));
  return {
    async examine(yaml) {
      const guard = onlyGuard(yaml);
      await refuseName(guard, root);
      const problem = await everydayProblem(guard, { root, dataDir, commands: await gateCommands() });
      if (problem !== null) throw refused(`the guard ${guard.name} ${problem}`, 'Make its condition narrower.');
      return examined(guard);
    },
    async test(yaml, calls) {
      return trialOf(onlyGuard(yaml), calls, { root, dataDir });
    },
    deeds: (calls) => deedsOf(calls, root),
    async read(name) {
      try {
        return await readFile(fileOf(name), 'utf8');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw new AppError('bad_config', `${guardFile(name)} cannot be read: ${(error as Error).message}`, {
          cause: error,
        });
      }
    },
    async write(name, text) {
      const file = fileOf(name);
      // The reactor and a request may write at the same time.
      const temporary = `${file}.${randomUUID()}.tmp`;
      try {
        await mkdir(dirname(file), { recursive: true });
        await writeFile(temporary, text);
        await rename(temporary, file);
      } catch (cause) {
        await rm(temporary, { force: true });
        throw new AppError('bad_config', `${guardFile(name)} cannot be written: ${(cause as Error).message}`, {
          hint: 'Make the folder writable.',
          cause,
        });
      }
    },
    remove: (name) => rm(fileOf(name), { force: true }),
    async find(name) {
      const { builtin, own } = await loadGuards({ root, builtinDir: assetDir('prompts/guards') });
      const found = [...builtin, ...own].filter((guard) => guard.name === name && guard.verdict !== 'allow');
      return found.length === 0 ? null : { isFinal: found.some(({ final }) => final) };
    },
  };
}

/** The one guard of a proposal. It may only refuse. */
function onlyGuard(yaml: string): Guard {
  if (withoutSecrets(yaml) !== yaml) throw refused('the guard contains what looks like a secret', 'Remove it.');
  const [guard, ...others] = parsed(yaml);
  if (!guard || others.length > 0) throw refused('a proposal is a list with one guard', 'Propose one at a time.');
  if (guard.verdict !== 'deny')
    throw refused(
      `the guard ${guard.name} has verdict: ${guard.verdict}, and a proposed guard may only refuse`,
      'A guard that allows or changes calls is written by a person: put it into a file in .tidemill/guards.',
    );
  if (guard.name.length > MOST_NAME) throw refused(`the name has more than ${MOST_NAME} characters`, 'Shorten it.');
  if (guard.reason.length > MOST_REASON)
    throw refused(`the reason has more than ${MOST_REASON} characters`, 'Say in a sentence or two what to do instead.');
  if (Object.keys(guard.when).length === 0 && guard.tools === undefined)
    throw refused(`the guard ${guard.name} has no condition, so it would refuse everything`, 'Add `when`.');
  return guard;
}

function parsed(yaml: string): Guard[] {
  try {
    return parseGuards(SOURCE, yaml, false);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw refused(error.message, 'docs/guards.md describes the keys.');
  }
}

/** Names must differ: refusals are recorded by name, and two guards with one name are an invalid folder. */
async function refuseName({ name }: Guard, root: string): Promise<void> {
  const { builtin, own } = await loadGuards({
    root,
    builtinDir: assetDir('prompts/guards'),
    without: `learned-${name}.yaml`,
  });
  const taken = [...builtin, ...own].some((guard) => guard.name === name) || name === 'guards';
  if (taken) throw refused(`there is already a guard named ${name}`, 'Choose another name.');
}

function examined({ name, tools, when, unless, reason }: Guard): ExaminedGuard {
  const rule = { ...(tools ? { tools } : {}), when, ...(unless ? { unless } : {}) };
  return {
    name,
    yaml: stringify([{ name, ...rule, verdict: 'deny', reason: plainLine(reason) }], { lineWidth: 120 }),
    rule: createHash('sha256')
      .update(JSON.stringify(sorted(rule)))
      .digest('hex'),
  };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted).sort();
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, each]) => [key, sorted(each)]));
}

const refused = (message: string, hint: string) => new AppError('bad_input', message, { hint });
