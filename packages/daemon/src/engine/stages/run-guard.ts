import { type CallEntry, type Mode, plainLine, plainText, recordableCall } from '@tidemill/contract';
import type { GuardVerdict, ToolCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { FencedCommand } from '../workers/leased-work.ts';

interface GuardedRun {
  runId: string;
  mode: Mode;
  /** Records a command in the background, before the run ends. */
  note(command: FencedCommand, what: string): void;
}

const VERDICTS: Record<GuardVerdict['kind'], CallEntry['verdict']> = {
  allow: 'allowed',
  deny: 'refused',
  rewrite: 'rewritten',
};

/** Checks the calls of one run. Every denial is an event, and every call is in the list of calls. */
export class RunGuard {
  readonly #deps: EngineDeps;
  readonly #run: GuardedRun;

  constructor(deps: EngineDeps, run: GuardedRun) {
    this.#deps = deps;
    this.#run = run;
  }

  async check(call: ToolCall, worktree: string): Promise<GuardVerdict> {
    const { mode } = this.#run;
    const verdict = await this.#deps.guards.check(call, { worktree, mode, cwd: call.cwd ?? worktree });
    if (verdict.kind === 'deny') this.denied(call, worktree, verdict);
    else this.#record(call, worktree, verdict);
    return verdict;
  }

  /** Also for a call that an adapter refused although no guard denied it. */
  denied(call: ToolCall, worktree: string, { guard, reason, ...more }: Omit<GuardVerdict & { kind: 'deny' }, 'kind'>) {
    const kept = recordableCall(call, worktree);
    const said = { tool: plainLine(call.tool), reason: plainText(reason) };
    this.#run.note({ type: 'guard.deny', runId: this.#run.runId, guard, ...said, call: kept }, 'a denial');
    this.#record(call, worktree, { kind: 'deny', guard, reason, ...more });
  }

  #record(call: ToolCall, worktree: string, verdict: GuardVerdict): void {
    this.#deps.calls?.record({
      ...recordableCall(call, worktree),
      at: this.#deps.clock.now(),
      source: 'run',
      from: this.#run.runId,
      mode: this.#run.mode,
      verdict: VERDICTS[verdict.kind],
      guard: verdict.kind === 'allow' ? null : verdict.guard,
      observed: verdict.observed?.map(({ guard }) => guard) ?? [],
    });
  }
}
