import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { INTEGRITY_GATE, isBlocking } from '@tidemill/contract';
import { missingProgram, ownFileAdvice, redAdvice, settingHints } from '@tidemill/core';
import { systemClock } from '../clock.ts';
import type { DataFolder } from '../config/data-folder.ts';
import { loadSettings } from '../config/load.ts';
import { latest, runWithRetry } from '../engine/stages/gate-retry.ts';
import { createGates } from '../gates/gates.ts';
import type { CleanCheckout } from '../ports.ts';
import { createPreparation } from '../prepare/preparation.ts';
import { isOutage } from '../prepare/steps.ts';
import type { ChildHost } from '../process/child.ts';
import { readablePlaces } from '../process/network-settings.ts';
import { openWorkspace } from '../workspace/workspace.ts';
import { landingOf } from './repositories.ts';

/** What the gates say about the target as it is. */
export interface TargetCheck {
  target: string;
  /** The gates that ran. */
  gates: string[];
  /** A gate that fails, or a step of `prepare`, with what its output says and what most likely helps. */
  failures: { name: string; text: string; advice: string | null }[];
}

interface CheckRequest {
  root: string;
  folder: Pick<DataFolder, 'path' | 'id'>;
  signal: AbortSignal;
}

/** Prepares a clean checkout of the target and runs the gates there. No agent starts, and nothing is kept. */
export async function checkTarget({ root, folder, signal }: CheckRequest): Promise<TargetCheck> {
  const { config } = await loadSettings(root);
  const { target, gates: configured, prepare: steps, include, sandbox, limits } = config;
  const checks = join(folder.path, 'checks');
  await mkdir(checks, { recursive: true, mode: 0o700 });
  const dataDir = await realpath(await mkdtemp(join(checks, 'check-')));
  const readable = readablePlaces(config.readable, root);
  // Not the id of the folder: a daemon that starts meanwhile ends what an earlier daemon left behind.
  const homeId = `${folder.id}-${basename(dataDir)}`;
  const host: ChildHost = { root, dataDir: folder.path, homeId, sandbox, readable, limits };
  const workspace = await openWorkspace({ root, target, ...landingOf(config), dataDir, clock: systemClock });
  const onNote = () => undefined;
  const cacheDir = join(folder.path, 'package-cache');
  const preparation = createPreparation({ steps, include, root, host, dataDir, workspace, onNote, cacheDir });
  try {
    const gates = createGates({ config: configured, host, logDir: join(dataDir, 'logs') });
    const only = gates.names.filter((gate) => gate !== INTEGRITY_GATE && !gates.ofChange?.includes(gate));
    const checkout = await workspace.checkOut(await workspace.targetCommit());
    try {
      const prepared = await preparation.checkout(checkout, { signal });
      if (prepared.kind === 'failed') {
        const { text } = prepared;
        const advice = missingProgram(text) ?? emptyAdvice(checkout, text) ?? (isOutage(text) ? OUTSIDE : null);
        return { target, gates: only, failures: [{ name: 'prepare', text, advice }] };
      }
      const reset = async () => {
        await checkout.reset();
        await preparation.checkout(checkout, { signal });
      };
      const { path, tree } = checkout;
      const changes = () => checkout.changes();
      const reports = latest(await runWithRetry(gates, { path, tree, files: null, only, signal, changes, reset }));
      const failed = reports.filter(({ receipt, fixed }) => isBlocking(receipt) && fixed.length === 0);
      const failures = failed.map(({ receipt: { gate: name }, excerpt, quote }) => {
        const text = quote ?? excerpt;
        const [hint] = settingHints(excerpt);
        const own = ownFileAdvice(name, excerpt) ?? emptyAdvice(checkout, excerpt);
        return { name, text, advice: own ?? hint ?? redAdvice(name, excerpt) };
      });
      return { target, gates: only, failures };
    } finally {
      await checkout.close();
    }
  } finally {
    await preparation.settled();
    await workspace.close();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}

const OUTSIDE = 'The cause is the machine or the network, not `prepare`. `tidemill up` tries again.';

/** The output names a file of a submodule that this checkout does not have. */
function emptyAdvice({ emptySubmodules }: Pick<CleanCheckout, 'emptySubmodules'>, output: string): string | null {
  const named = emptySubmodules?.find((folder) => output.includes(`${folder}/`));
  if (named === undefined) return null;
  return `The submodule ${named} is empty in your checkout: git submodule update --init --recursive`;
}
