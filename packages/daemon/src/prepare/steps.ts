import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { PrepareStep } from '@tidemill/contract';
import { tellingLines } from '@tidemill/core';
import type { PreparationRequest } from '../ports.ts';
import { type ChildEnd, type ChildHost, startChild } from '../process/child.ts';
import { passedOn } from '../process/environment.ts';
import { observe } from '../process/observe.ts';
import { refusalHints } from '../process/refusal-hint.ts';
import { CONTAINER_SOCKETS } from '../process/sandbox.ts';
import { copyTree, kilobytesOf } from './tree-files.ts';

export interface StepsOptions {
  steps: PrepareStep[];
  host: ChildHost;
  /** Download cache of package managers. Only steps on the target's own tree write to it. */
  cacheDir: string;
  /** A step begins. Returns what to call when it has ended. */
  onStep?(step: string): () => void;
}

/** A failed step: its output, and whether the environment is the cause. */
export interface StepFailure {
  text: string;
  isEnvironment: boolean;
}

const KEPT_OUTPUT = 64 * 1024;
const OUTPUT_CHARS = 2_500;
const MOST_LINES = 12;

/** Messages of package managers for an unreachable or untrusted registry. */
const UNREACHABLE =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|SELF_SIGNED_CERT|UNABLE_TO_(GET|VERIFY)|CERT_HAS_EXPIRED|Could not resolve host|Connection (refused|timed out|reset)|Temporary failure in name resolution|Name or service not known|Unknown host|No route to host|certificate verify failed|Network is unreachable|registry .{0,80}(50[0-9]|unavailable)|\b(429|50[234]) (Too Many|Bad Gateway|Service Unavailable|Gateway)|No space left on device|ENOSPC/i;

/** Whether the network, a registry or the disk made a step fail, as far as its output tells. */
export const isOutage = (text: string): boolean => UNREACHABLE.test(text);

/** Gets the names of files below the folder that a step has read. */
export type OnReads = (files: string[]) => void;

/**
 * Runs the steps one after another in the folder. `isTrusted`: every file in it is the target's own. Otherwise the steps
 * get a copy of the downloads, because the change decides what is fetched and written. With `onReads` they are observed.
 */
export async function runSteps(
  { steps, host, cacheDir, onStep }: StepsOptions,
  folder: string,
  isTrusted: boolean,
  request: PreparationRequest,
  onReads?: OnReads,
): Promise<StepFailure | null> {
  const cache = isTrusted ? cacheDir : await mkdtemp(path.join(tmpdir(), 'prepare-'));
  await mkdir(cache, { recursive: true });
  try {
    if (!isTrusted) await seed(cache, cacheDir);
    for (const step of steps) {
      const ended = onStep?.(step.run);
      const failure = await runStep(step, { host, folder, cache, onReads }, request).finally(ended);
      if (failure) return failure;
    }
    return null;
  } finally {
    if (!isTrusted) await rm(cache, { recursive: true, force: true });
  }
}

/** Above this size, downloading again may be quicker than copying. */
const MOST_COPIED_KB = 512 * 1024;

/** Without a copy, the steps download everything, which only takes longer. */
async function seed(cache: string, cacheDir: string): Promise<void> {
  const names = await readdir(cacheDir).catch(() => []);
  if (names.length === 0 || ((await kilobytesOf(cacheDir)) ?? Number.POSITIVE_INFINITY) > MOST_COPIED_KB) return;
  // Another step may remove a file meanwhile.
  for (const name of names) await copyTree(path.join(cacheDir, name), path.join(cache, name)).catch(() => undefined);
}

async function runStep(
  step: PrepareStep,
  { host, folder, cache, onReads }: { host: ChildHost; folder: string; cache: string; onReads: OnReads | undefined },
  { signal, control, watch }: PreparationRequest,
): Promise<StepFailure | null> {
  let output = Buffer.alloc(0);
  const running = watch?.begin(step.timeout);
  const observation = onReads ? await observe(folder, 'all', host) : undefined;
  const child = startChild({
    host,
    runId: `prepare_${randomUUID()}`,
    command: ['sh', '-c', step.run],
    cwd: folder,
    asClone: { pass: step.pass },
    env: { CI: '1', ...cacheVariables(cache), ...passedOn(step.pass), ...step.env },
    network: step.network,
    networkSettings: step.network,
    writable: [cache, ...(step.network ? CONTAINER_SOCKETS : [])],
    timeoutMs: step.timeout,
    signal,
    control,
    ...(observation?.onTrace ? { onTrace: observation.onTrace } : {}),
    onOutput: (chunk) => {
      running?.output();
      output = Buffer.concat([output, chunk]).subarray(-KEPT_OUTPUT);
    },
  });
  const ended = await child.end.finally(() => running?.end());
  onReads?.((await observation?.end())?.files ?? []);
  if (ended.kind === 'stopped') throw signal.reason;
  if (ended.kind === 'exited' && ended.exitCode === 0) return null;
  const text = stripVTControlCharacters(output.toString('utf8')).trim();
  const hints = await refusalHints(text, { host, worktree: folder, network: step.network });
  const said = `The prepare step \`${step.run}\` ${howItEnded(ended, step)}:\n${tellingLines(text, MOST_LINES).slice(-OUTPUT_CHARS)}`;
  return {
    text: [said, ...hints].join('\n'),
    isEnvironment: couldNotRun(ended) || isOutage(text),
  };
}

const cacheVariables = (cache: string) => ({
  XDG_CACHE_HOME: cache,
  npm_config_cache: path.join(cache, 'npm'),
  // The store of pnpm. Its own variable would cause warnings from npm.
  XDG_DATA_HOME: path.join(cache, 'data'),
  YARN_CACHE_FOLDER: path.join(cache, 'yarn'),
  BUN_INSTALL_CACHE_DIR: path.join(cache, 'bun'),
  PIP_CACHE_DIR: path.join(cache, 'pip'),
  UV_CACHE_DIR: path.join(cache, 'uv'),
  POETRY_CACHE_DIR: path.join(cache, 'poetry'),
  GOCACHE: path.join(cache, 'go-build'),
  COMPOSER_CACHE_DIR: path.join(cache, 'composer'),
});

function howItEnded(ended: ChildEnd, step: PrepareStep): string {
  if (ended.kind === 'timeout') return `took longer than ${step.timeout / 1000} s`;
  if (ended.kind === 'unstartable') return `could not be started (${ended.message})`;
  if (ended.kind === 'over_limit') return ended.message;
  if (ended.kind === 'exited' && ended.exitCode === 127) return 'needs a program that is not installed';
  return ended.kind === 'exited' ? `failed with exit code ${ended.exitCode}` : 'was stopped';
}

function couldNotRun(ended: ChildEnd): boolean {
  if (ended.kind === 'over_limit') return false;
  if (ended.kind !== 'exited') return true;
  return ended.exitCode === null || [126, 127, 137].includes(ended.exitCode);
}
