import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import type { CallSituation, Guards, GuardVerdict, ToolCall } from '../ports.ts';
import { type CallFacts, factsOf, hasShell, type Scene, type TouchedPath } from './call-facts.ts';
import type { LoadedGuards } from './load.ts';
import { followLinks } from './location.ts';
import { type Asked, applies, hashesIn, type ReadyGuard, readyGuard, type Subject } from './match.ts';

type ShellReader = (source: string, scene: Scene) => CallFacts;

interface Prepared extends CallSituation {
  read: ShellReader;
}

/** Whether a hash identifies evidence of the project that says `pass`. */
export type IsProven = (hash: string) => Promise<boolean>;

/** No real call names more. */
const MOST_HASHES = 20;
/** A pattern may run without end on a crafted text. A call that is not decided by then is denied. */
const CHECK_LIMIT_MS = 1_800;
/** For guards that only observe: they must not slow down the work. */
const OBSERVE_LIMIT_MS = 200;
const arena = createContext({});
const ALLOW: GuardVerdict = { kind: 'allow' };

/**
 * Guards are checked in order, and the first that matches a path or a command decides: final guards, then the project's own
 * (which may allow what later ones deny), then the other built-in ones. One denial denies the call.
 */
export class GuardSet implements Guards {
  readonly #makeOrder: () => ReadyGuard[];
  #ready: ReadyGuard[] | undefined;
  readonly #observing: ReadyGuard[];
  readonly #home = homedir();
  readonly #isProven: IsProven;

  /** Without a lookup, no hash counts as evidence. */
  constructor(guards: LoadedGuards, dataDir: string, isProven: IsProven = async () => false) {
    const folders = { home: followLinks(this.#home), data: followLinks(dataDir) };
    const observing = guards.own.filter(({ observe }) => observe);
    this.#observing = observing.map((guard) => readyGuard(guard, folders));
    this.#makeOrder = () => {
      const { builtin } = guards;
      const own = guards.own.filter(({ observe }) => !observe);
      const isFinal = builtin.filter(({ final }) => final);
      const rest = builtin.filter(({ final }) => !final);
      return [...isFinal, ...own, ...rest].map((guard) => readyGuard(guard, folders));
    };
    this.#isProven = isProven;
  }

  get #order(): ReadyGuard[] {
    this.#ready ??= this.#makeOrder();
    return this.#ready;
  }

  async check(call: ToolCall, situation: CallSituation): Promise<GuardVerdict> {
    try {
      const proven = await this.#provenIn(call);
      const read = await shellReader(call);
      const prepared = { ...situation, read };
      const verdict = withinLimit(() => this.#decide(call, prepared, proven), CHECK_LIMIT_MS);
      const observed = this.#observing.flatMap((ready) => this.#observe(ready, call, prepared, proven));
      return observed.length > 0 ? { ...verdict, observed } : verdict;
    } catch (error) {
      return { kind: 'deny', guard: 'guards', reason: unchecked(error) };
    }
  }

  /** What a guard that only observes would have done. */
  #observe(ready: ReadyGuard, call: ToolCall, prepared: Prepared, proven: ReadonlySet<string>) {
    const guard = ready.guard.name;
    try {
      const found = withinLimit(() => this.#pass(call, prepared, proven, [ready]), OBSERVE_LIMIT_MS);
      return found.kind === 'deny' ? [{ guard, reason: found.reason }] : [];
    } catch (error) {
      return [{ guard, reason: unchecked(error), ...(isTimeout(error) ? { isSlow: true as const } : {}) }];
    }
  }

  /** Looked up before the check, which is synchronous. */
  async #provenIn({ input }: ToolCall): Promise<ReadonlySet<string>> {
    if (![...this.#order, ...this.#observing].some(({ guard }) => guard.unless?.evidence)) return new Set();
    const hashes = [...new Set(hashesIn(JSON.stringify(input)))].slice(0, MOST_HASHES);
    if (hashes.length === 0) return new Set();
    const known = Promise.all(hashes.map((hash) => this.#isProven(hash)));
    const late = new AbortController();
    const answers = await Promise.race([known, delay(CHECK_LIMIT_MS, [], { signal: late.signal })]);
    late.abort();
    return new Set(hashes.filter((_, index) => answers[index]));
  }

  #decide(call: ToolCall, situation: Prepared, proven: ReadonlySet<string>): GuardVerdict {
    const { without } = situation;
    const order = without === undefined ? this.#order : this.#order.filter(({ guard }) => guard.name !== without);
    const first = this.#pass(call, situation, proven, order);
    if (!('input' in first) || first.input === undefined) return first;
    // A rewritten call must pass the guards itself.
    const second = this.#pass({ ...call, input: first.input }, situation, proven, order);
    return second.kind === 'deny' && !second.asks ? second : first;
  }

  #pass(
    call: ToolCall,
    { worktree, mode, session = 'agent', cwd = '.', read }: Prepared,
    proven: ReadonlySet<string>,
    order: ReadyGuard[],
  ): GuardVerdict {
    const top = followLinks(worktree);
    const scene = { worktree: top, cwd: followLinks(resolve(top, cwd)), home: this.#home };
    const facts = factsOf(call, scene, read);
    const about: Asked = { tool: call.tool, mode, session, facts, proven };
    const subjects: Subject[] = [
      { call: true },
      ...facts.commands.map((started) => ({ started })),
      ...facts.paths.map((path) => ({ path })),
    ];
    let verdict = ALLOW;
    let asked: { guard: string; reason: string } | null = null;
    for (const subject of subjects) {
      const ready = order.find((each) => applies(each, subject, about));
      if (!ready || ready.guard.verdict === 'allow') continue;
      const { name, reason } = ready.guard;
      const text = fill(reason, subject, scene.worktree);
      if (ready.guard.verdict === 'deny') return { kind: 'deny', guard: name, reason: text };
      if (ready.guard.verdict === 'ask') {
        asked ??= { guard: name, reason: text };
        continue;
      }
      const input = rewritten(ready, verdict.kind === 'rewrite' ? verdict.input : call.input);
      if (isDeepStrictEqual(input, call.input)) continue;
      if (verdict.kind === 'allow') verdict = { kind: 'rewrite', guard: name, reason: text, input };
      else if (verdict.kind === 'rewrite') verdict = { ...verdict, input };
    }
    if (asked === null) return verdict;
    return {
      ...{ kind: 'deny', ...asked, asks: true },
      ...(verdict.kind === 'rewrite' ? { input: verdict.input } : {}),
    };
  }
}

/** The shell's grammar is loaded only for a call that needs it: most edit or read a file. */
async function shellReader(call: ToolCall): Promise<ShellReader> {
  if (hasShell(call)) return (await import('./shell-facts.ts')).shellFacts;
  return () => {
    throw new Error('a rewrite made a shell command of a call that had none');
  };
}

/** Interrupts running code, including a pattern; a timer of this thread could not. */
function withinLimit<T>(work: () => T, timeout: number): T {
  arena.work = work;
  return runInContext('work()', arena, { timeout }) as T;
}

function unchecked(error: unknown): string {
  const why = isTimeout(error) ? 'the check took too long' : error instanceof Error ? error.message : String(error);
  return `This call is refused because it could not be checked: ${why}.`;
}

const isTimeout = (error: unknown) =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';

function rewritten({ guard }: ReadyGuard, input: Record<string, unknown>): Record<string, unknown> {
  const { set = {}, replace } = guard.rewrite ?? {};
  const changed: Record<string, unknown> = { ...input, ...set };
  const field = replace ? changed[replace.field] : undefined;
  if (replace && typeof field === 'string')
    changed[replace.field] = field.replace(new RegExp(replace.pattern, 'giu'), replace.with);
  return changed;
}

function fill(reason: string, subject: Subject, worktree: string): string {
  const path: TouchedPath | null = 'path' in subject ? subject.path : null;
  const command = 'started' in subject ? subject.started.text : path?.command;
  const values: Record<string, string> = {
    worktree,
    path: path?.location.shown ?? 'this path',
    command: shortened(command ?? 'this command'),
  };
  return reason.trim().replace(/\{(path|command|worktree)\}/g, (_, key: string) => values[key] as string);
}

const shortened = (text: string) => (text.length > 200 ? `${text.slice(0, 197)}...` : text);
