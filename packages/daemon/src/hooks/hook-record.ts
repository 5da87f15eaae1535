import { appendFileSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CallEntry, HookNote, HookRefusal } from '@tidemill/contract';
import { callToRecord } from '@tidemill/contract/call-to-record';
import { appendCall, callFile, rootKey } from '../guards/call-log.ts';
import type { GuardVerdict, ToolCall } from '../ports.ts';
import type { SessionPlace } from './hook-input.ts';

// Loaded before every tool of a person's session: no module here may cost time (zod, yaml, the contract).

/** While no daemon takes them over. */
const MOST_BYTES = 1024 * 1024;

/** What was refused in a person's own sessions, for the daemon to take over. */
export const refusalFile = (dataDir: string, root: string) => join(dataDir, 'hooks', `${rootKey(root)}.refused.jsonl`);
/** Calls that matter to proposed guards, for the daemon to take over. */
export const noteFile = (dataDir: string, root: string) => join(dataDir, 'hooks', `${rootKey(root)}.notes.jsonl`);

/** Keeps the call, and a refusal for the daemon. The decision is made already: a failure here changes nothing. */
export function recordCall(place: SessionPlace, call: ToolCall, verdict: GuardVerdict, bypassed?: string): void {
  const kept = callToRecord(call, place.worktree);
  const { kind } = verdict;
  const isAsked = kind === 'deny' && verdict.asks === true;
  const observed = verdict.observed?.filter(({ isSlow }) => !isSlow) ?? [];
  const said = { allow: bypassed ? 'bypassed' : 'allowed', deny: 'refused', rewrite: 'rewritten' } as const;
  const entry: CallEntry = {
    ...kept,
    at: Date.now(),
    source: 'session',
    from: place.session,
    mode: 'implement',
    verdict: isAsked ? 'asked' : said[kind],
    guard: kind === 'allow' ? (bypassed ?? null) : verdict.guard,
    observed: observed.map(({ guard }) => guard),
  };
  quietly(() => appendCall(callFile(place.dataDir, place.root), entry));
  const about = { at: entry.at, session: place.session };
  const note = (happened: HookNote['kind'], guard: string) =>
    append<HookNote>(noteFile(place.dataDir, place.root), { kind: happened, ...about, guard, call: kept });
  if (bypassed !== undefined) note('bypassed', bypassed);
  for (const guard of entry.observed) note('observed', guard);
  if (kind === 'deny' && !isAsked) recordRefusal(place, { guard: verdict.guard, reason: verdict.reason, call: kept });
}

export function recordRefusal(place: SessionPlace, refused: Pick<HookRefusal, 'guard' | 'reason' | 'call'>): void {
  const line = { ...refused, at: Date.now(), session: place.session };
  append<HookRefusal>(refusalFile(place.dataDir, place.root), line);
}

/** What a person corrected in their own session, in their words. */
export function recordCorrection(place: SessionPlace, words: string): void {
  const { input } = callToRecord({ tool: 'UserPromptSubmit', input: { words } }, place.worktree);
  const line = { kind: 'corrected', guard: 'person', reason: String(input.words), call: null } as const;
  append<HookRefusal>(refusalFile(place.dataDir, place.root), { ...line, at: Date.now(), session: place.session });
}

function append<T>(file: string, line: T): void {
  quietly(() => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > MOST_BYTES) return;
    appendFileSync(file, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  });
}

function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // A full disk or a folder that cannot be written must not change what the person may do.
  }
}
