import { setImmediate as turn } from 'node:timers/promises';
import { AppError, type CallEntry, type GuardTest, SHOWN_CALLS, shownCall, WORKTREE_MARK } from '@tidemill/contract';
import type { SessionKind, ToolCall } from '../ports.ts';
import { hasShell } from './call-facts.ts';
import type { Guard } from './guard.ts';
import { GuardSet } from './guard-set.ts';

interface Place {
  root: string;
  dataDir: string;
}

/** `unknown`: the call cannot be read. */
export type TrialVerdict = 'refused' | 'allowed' | 'unknown' | 'slow';

/** On a busy machine a check may be slow by chance. */
const MOST_TRIES = 3;

/** More would keep the daemon busy for seconds. */
const MOST_CALLS = 1_000;
/** Other work goes on after that many. */
const CALLS_PER_TURN = 20;

/** What one guard alone would do with a call. */
export function trial(guard: Guard, { root, dataDir }: Place) {
  const set = new GuardSet({ builtin: [], own: [{ ...guard, observe: true }] }, dataDir);
  return async (call: ToolCall, mode: CallEntry['mode'], session: SessionKind): Promise<TrialVerdict> => {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const { kind, observed } = await set.check(call, { worktree: root, mode, session, cwd: call.cwd ?? root });
      if (kind === 'deny') return 'unknown';
      if (observed === undefined) return 'allowed';
      if (!observed.some(({ isSlow }) => isSlow)) return 'refused';
    }
    return 'slow';
  };
}

/** Tests a guard with recorded calls, the newest first, as if they were made in the main checkout. */
export async function trialOf(guard: Guard, calls: readonly CallEntry[], place: Place): Promise<GuardTest> {
  const decide = trial(guard, place);
  const found: Record<TrialVerdict, CallEntry[]> = { refused: [], allowed: [], unknown: [], slow: [] };
  for (const [index, entry] of calls.slice(0, MOST_CALLS).entries()) {
    if (index % CALLS_PER_TURN === 0) await turn();
    const call = placedCall(entry, place.root);
    // A command that was cut is another command.
    const verdict =
      entry.isCut && hasShell(call)
        ? 'unknown'
        : await decide(call, entry.mode, entry.source === 'session' ? 'own' : 'agent');
    found[verdict].push(entry);
    if (verdict === 'slow') break;
  }
  const { refused, allowed, slow } = found;
  if (slow[0]) {
    const call = shownCall(slow[0]);
    throw new AppError(
      'bad_input',
      `the guard ${guard.name} takes too long on a recorded call: ${call.tool} ${call.what}`,
      {
        hint: 'Use a simpler pattern, without repetitions inside repetitions.',
      },
    );
  }
  return {
    refused: refused.slice(0, SHOWN_CALLS).map(shownCall),
    allowed: allowed.slice(0, SHOWN_CALLS).map(shownCall),
    refusedCount: refused.length,
    allowedCount: allowed.length,
  };
}

/** The worktree of the call may be gone: the main checkout takes its place. */
export function placedCall({ tool, cwd, input }: CallEntry, root: string): ToolCall & { cwd: string } {
  const placed = JSON.parse(JSON.stringify({ cwd, input }), (_key, each: unknown) =>
    typeof each === 'string' ? each.replaceAll(WORKTREE_MARK, root) : each,
  ) as Pick<CallEntry, 'cwd' | 'input'>;
  return { tool, ...placed };
}
