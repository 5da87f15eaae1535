import { stat } from 'node:fs/promises';
import type { ChildSpec } from './child.ts';
import { clonePath } from './clone-path.ts';
import { childEnvironment, type Marker, worktreeVariables } from './environment.ts';
import { homesOf } from './home.ts';
import { withMark } from './limit-mark.ts';
import { isInside } from './mounts.ts';
import { certificateFiles, networkSettings, SCRATCH_CACHES } from './network-settings.ts';
import { tracePrefix } from './observe.ts';
import { findProgram } from './program.ts';
import { sandboxPrefix, sandboxStatus } from './sandbox.ts';
import { programFolder } from './tools.ts';

/** What is started for a child: the prefix of its command, and its complete environment. */
export interface Launch {
  file: string;
  args: string[];
  env: Record<string, string>;
  isSandboxed: boolean;
}

export async function launchOf(spec: ChildSpec): Promise<Launch | { missing: string }> {
  const launch = await plainLaunch(spec);
  if ('missing' in launch || !spec.onTrace) return launch;
  // Around the sandbox: what runs inside can neither see the tracer nor reach its output.
  const [file = '', ...args] = [...tracePrefix, launch.file, ...launch.args];
  return { ...launch, file, args };
}

async function plainLaunch(spec: ChildSpec): Promise<Launch | { missing: string }> {
  const folder = await stat(spec.cwd).catch(() => null);
  if (!folder?.isDirectory()) return { missing: `the folder ${spec.cwd} does not exist` };
  const home = spec.env?.HOME ?? process.env.HOME;
  const settings = spec.networkSettings ? await networkSettings(process.env, home) : { env: {}, readable: [] };
  const isSandboxed = spec.host.sandbox === 'auto' && (await sandboxStatus()).available;
  const shownAt = spec.asClone
    ? ((await clonePath(spec.host, spec.cwd, spec.asClone.isMoved)) ?? undefined)
    : undefined;
  const own = Object.entries(worktreeVariables(spec.cwd));
  const variables = shownAt === undefined ? own : own.filter(([name]) => spec.asClone?.pass.includes(name));
  const given = { ...settings.env, ...Object.fromEntries(variables), ...spec.env };
  const marker = { homeId: spec.host.homeId, runId: spec.runId } satisfies Marker;
  const caches = spec.networkSettings ? SCRATCH_CACHES : {};
  const inside = { ...caches, ...given, ...spec.sandboxEnv };
  const env = childEnvironment(process.env, isSandboxed ? inside : given, shownAt === undefined ? marker : null);
  const [name = '', ...args] = spec.command;
  const program = await findProgram(name, env, spec.cwd);
  if ('missing' in program) return program;
  if (!isSandboxed) {
    const [file = '', ...rest] = withMark([program.file, ...args], marker);
    return { file, args: rest, env, isSandboxed };
  }

  const { dataDir } = spec.host;
  const homes = await homesOf(env.HOME);
  const prefix = await sandboxPrefix({
    worktree: spec.cwd,
    root: spec.host.root,
    command: [program.file, ...args],
    values: Object.values(spec.env ?? {}),
    dataDir,
    homes,
    searchPath: env.PATH ?? '',
    network: spec.network,
    readOnlyWorktree: spec.readOnlyWorktree ?? false,
    readable: [
      ...(spec.readable ?? []),
      ...(spec.host.readable ?? []),
      // A variable that names a whole home folder does not make it readable.
      ...[...settings.readable, ...certificateFiles(given)].filter(
        (place) => !homes.some((folder) => folder === place || isInside(folder, place)),
      ),
      ...(await programFolder(program.file, dataDir, homes)),
    ],
    writable: spec.writable ?? [],
    hidden: spec.hidden ?? [],
    ...(shownAt === undefined ? {} : { shownAt }),
  });
  const whole = [...prefix, program.file, ...args];
  // Without a mark in the environment, what it starts is found by the mark of its limits.
  const [file = 'bwrap', ...rest] = shownAt === undefined ? whole : withMark(whole, marker);
  return { file, args: rest, env: { ...env, TMPDIR: '/tmp' }, isSandboxed };
}
