import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { findProgram } from '../../process/program.ts';
import type { QueryOptions, SdkQuery, UserMessage } from './sdk-types.ts';

const PACKAGE = '@anthropic-ai/claude-agent-sdk';
const INSTALL = `install it with \`npm install -g ${PACKAGE}\` (or in the repository, without -g)`;

export interface Sdk {
  query(input: { prompt: AsyncIterable<UserMessage>; options: QueryOptions }): SdkQuery;
  /** In some versions of the SDK only. */
  tool?: DefineTool;
  createSdkMcpServer?(options: { name: string; version: string; tools: unknown[] }): unknown;
  /** The executable to run. Undefined: the SDK searches for one. */
  program: string | undefined;
}

type DefineTool = (
  name: string,
  description: string,
  shape: Record<string, z.ZodType>,
  handle: (input: Record<string, unknown>) => Promise<unknown>,
) => unknown;

const isFunction = (value: unknown) => typeof value === 'function';
const Module = z.object({
  query: z.custom<Sdk['query']>(isFunction),
  tool: z.custom<DefineTool>(isFunction).optional(),
  createSdkMcpServer: z.custom<NonNullable<Sdk['createSdkMcpServer']>>(isFunction).optional(),
});

/**
 * The vendor's SDK is not a dependency: it is loaded when the first agent of this kind starts, from the repository's
 * node_modules, from beside Tidemill, or from where npm installs globally.
 */
export async function loadSdk(root: string, wanted: string | undefined): Promise<Sdk | { missing: string }> {
  const found = findSdk(root);
  if (!found) return { missing: `Claude Code is driven through ${PACKAGE}, which is not installed; ${INSTALL}` };
  const module = Module.safeParse(await import(pathToFileURL(found).href));
  if (!module.success) return { missing: `${found} is not the SDK it should be (it exports no query); ${INSTALL}` };
  const program = await executable(found, root, wanted);
  return 'missing' in program ? program : { ...module.data, program: program.file };
}

/** The file that `import` of the package would load, or null. */
export function findSdk(root: string, env: NodeJS.ProcessEnv = process.env): string | null {
  const globals = (env.PATH ?? '')
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder))
    .map((folder) => path.join(folder, '..', 'lib', 'any.js'));
  for (const from of [path.join(root, 'any.js'), import.meta.filename, ...globals]) {
    const found = resolveFrom(from, PACKAGE);
    if (found !== null) return found;
  }
  return null;
}

function resolveFrom(from: string, name: string): string | null {
  try {
    return createRequire(from).resolve(name);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'MODULE_NOT_FOUND' || code === 'ERR_PACKAGE_PATH_NOT_EXPORTED') return null;
    throw error;
  }
}

/** The executable that was installed together with the SDK, or null. */
export function bundledProgram(sdk: string): string | null {
  const found = resolveFrom(sdk, `${PACKAGE}-${process.platform}-${process.arch}/package.json`);
  return found === null ? null : path.join(path.dirname(found), process.platform === 'win32' ? 'claude.exe' : 'claude');
}

/** As configured; else the one that came with the SDK; else the one on PATH. */
async function executable(
  sdk: string,
  root: string,
  wanted: string | undefined,
): Promise<{ file: string | undefined } | { missing: string }> {
  const search = { PATH: process.env.PATH ?? '' };
  if (wanted !== undefined) {
    const found = await findProgram(wanted, search, root);
    const hint = 'leave `program` out to use the one that comes with the SDK';
    return 'file' in found ? found : { missing: `${found.missing}; ${hint}` };
  }
  if (bundledProgram(sdk) !== null) return { file: undefined };
  const found = await findProgram('claude', search, root);
  return { file: 'file' in found ? found.file : undefined };
}
