import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import type { CallEntry } from '@tidemill/contract';
import type { Deeds } from '@tidemill/core';
import { factsOf } from './call-facts.ts';
import { shellFacts } from './shell-facts.ts';
import { placedCall } from './trial.ts';

/** Other work goes on after that many. */
const CALLS_PER_TURN = 20;

/** What each run and session did, by its id: from the recorded calls that were not refused. */
export async function deedsOf(calls: readonly CallEntry[], root: string): Promise<Map<string, Deeds>> {
  const all = new Map<string, { writes: string[]; commands: string[] }>();
  for (const [index, entry] of calls.entries()) {
    if (index % CALLS_PER_TURN === 0) await turn();
    const deeds = all.get(entry.from) ?? { writes: [], commands: [] };
    all.set(entry.from, deeds);
    if (entry.verdict === 'refused') continue;
    const { writes, commands } = deedsIn(entry, root);
    deeds.writes.push(...writes);
    deeds.commands.push(...commands);
  }
  return all;
}

function deedsIn(entry: CallEntry, root: string): Deeds {
  const call = placedCall(entry, root);
  try {
    const facts = factsOf(call, { worktree: root, cwd: resolve(root, call.cwd), home: homedir() }, shellFacts);
    return {
      writes: facts.paths
        .filter(({ kind, location }) => (kind === 'write' || kind === 'remove') && !location.isOutside)
        .map(({ location }) => location.shown),
      commands: facts.commands.map(({ text }) => text),
    };
  } catch {
    return { writes: [], commands: [] }; // it was cut and cannot be read: the list is a sample
  }
}
