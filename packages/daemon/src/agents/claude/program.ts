import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { z } from 'zod';
import { isInside } from '../../process/mounts.ts';
import { findProgram } from '../../process/program.ts';
import { versionOf } from '../program-version.ts';

export const INSTALL = 'npm install -g @anthropic-ai/claude-code';
export const UPDATE = 'claude update';
/** From this version on, `@file` and `/command` in a prompt can be turned off. They would bypass the guards. */
const OLDEST = '2.1.248';

const HOW = `install Claude Code with \`${INSTALL}\`, or name its executable in \`program\``;
/** Packages of earlier set-ups: each contains the program. */
const PACKAGE = `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}`;
const EXECUTABLE = process.platform === 'win32' ? 'claude.exe' : 'claude';

type Found = { file: string } | { missing: string };

/** The configured program; else the one on PATH; else the repository's own installation; else the SDK's. */
export async function findClaude(
  program: string | undefined,
  root: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Found> {
  const search = { PATH: env.PATH ?? '' };
  if (program !== undefined) {
    const found = await findProgram(program, search, root);
    return 'file' in found ? found : { missing: `${found.missing}; ${HOW}` };
  }
  const places = ['claude', path.join(root, 'node_modules', '.bin', 'claude'), ...packaged(root, search.PATH)];
  for (const name of places) {
    const found = await findProgram(name, search, root);
    if ('file' in found) return found;
  }
  return { missing: `there is no program claude on PATH; ${HOW}` };
}

/** Programs that came with the vendor's SDK: in the repository, beside Tidemill, or where npm installs globally. */
function packaged(root: string, searchPath: string): string[] {
  const globals = searchPath
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder))
    .map((folder) => path.join(folder, '..', 'lib', 'any.js'));
  return [path.join(root, 'any.js'), import.meta.filename, ...globals].flatMap((from) => {
    const folders = createRequire(from).resolve.paths(PACKAGE) ?? [];
    return folders.map((folder) => path.join(folder, PACKAGE, EXECUTABLE));
  });
}

/** The same, and new enough. A program of the repository is asked only in the sandbox, when it starts. */
export async function usableClaude(program: string | undefined, root: string): Promise<Found> {
  const found = await findClaude(program, root);
  if ('missing' in found || isInside(found.file, root)) return found;
  const missing = problemOfVersion(await knownVersion(found.file), found.file);
  return missing === null ? found : { missing };
}

const versions = new Map<string, Promise<string | null>>();

/** Asked once for each state of the file, because it starts a program. */
async function knownVersion(file: string): Promise<string | null> {
  const { mtimeMs, size } = await stat(file);
  const key = `${file}\n${mtimeMs}\n${size}`;
  const known = versions.get(key) ?? versionOf(file);
  versions.set(key, known);
  const version = await known;
  if (version === null) versions.delete(key);
  return version;
}

/** Why this version cannot be used, or null. An unknown one is judged when it starts. */
export function problemOfVersion(version: string | null, file = 'claude'): string | null {
  const number = /\d+\.\d+\.\d+/.exec(version ?? '')?.[0];
  if (number === undefined || number.localeCompare(OLDEST, 'en', { numeric: true }) >= 0) return null;
  return `Claude Code ${number} (${file}) is too old: Tidemill needs ${OLDEST} or newer; update it with \`${UPDATE}\``;
}

const Reply = z.object({ claude_code_version: z.string().optional(), hooks_applied: z.boolean().optional() });

/** Why a program that answered `initialize` like this cannot be used, or null. Null is no answer in time. */
export function problemOfReply(raw: unknown): string | null {
  const reply = Reply.safeParse(raw);
  const version = reply.data?.claude_code_version ?? null;
  if (reply.success && reply.data.hooks_applied === true) return problemOfVersion(version);
  return [
    raw === null ? 'the program did not answer in time' : 'the program does not confirm that it asks the guards',
    `it must be Claude Code ${OLDEST} or newer${version === null ? '' : `, and it is ${version}`}`,
    `update it with \`${UPDATE}\``,
  ].join('; ');
}
