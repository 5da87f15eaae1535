import { type CallEntry, callToRecord, type Mode, plainLine, plainText, shownCall } from '@tidemill/contract';
import type { GuardVerdict, ToolCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { FencedCommand } from '../workers/leased-work.ts';

interface GuardedRun {
  runId: string;
  mode: Mode;
  subjectId: string;
  /** Records a command in the background, before the run ends. */
  note(command: FencedCommand, what: string): void;
}

const VERDICTS: Record<GuardVerdict['kind'], CallEntry['verdict']> = {
  allow: 'allowed',
  deny: 'refused',
  rewrite: 'rewritten',
};
/** More hits of one guard in one run say nothing new. */
const MOST_HITS = 20;

/** Checks the calls of one run. Every denial is an event, and every call is in the list of calls. */
export class RunGuard {
  readonly #deps: EngineDeps;
  readonly #run: GuardedRun;
  readonly #hits = new Map<string, number>();

  constructor(deps: EngineDeps, run: GuardedRun) {
    this.#deps = deps;
    this.#run = run;
  }

  async check(call: ToolCall, worktree: string): Promise<GuardVerdict> {
    const situation = { worktree, mode: this.#run.mode, cwd: call.cwd ?? worktree };
    const verdict = await this.#deps.guards.check(call, situation);
    if (verdict.kind !== 'deny') return this.#passed(call, worktree, verdict);
    const bypassed = (await this.#takeBypass(call, worktree, verdict.guard)) ? verdict.guard : null;
    if (bypassed === null) {
      this.denied(call, worktree, verdict);
      return verdict;
    }
    // The other guards still decide.
    const others = await this.#deps.guards.check(call, { ...situation, without: bypassed });
    if (others.kind !== 'deny') return this.#passed(call, worktree, others, bypassed);
    this.denied(call, worktree, others);
    return others;
  }

  /** Also for a call that an adapter refused although no guard denied it. */
  denied(call: ToolCall, worktree: string, { guard, reason, ...more }: Omit<GuardVerdict & { kind: 'deny' }, 'kind'>) {
    const kept = callToRecord(call, worktree);
    const said = { tool: plainLine(call.tool), reason: plainText(reason) };
    this.#run.note({ type: 'guard.deny', runId: this.#run.runId, guard, ...said, call: kept }, 'a denial');
    this.#record(call, worktree, { kind: 'deny', guard, reason, ...more });
  }

  #passed(call: ToolCall, worktree: string, verdict: GuardVerdict, bypassed?: string): GuardVerdict {
    this.#record(call, worktree, verdict, bypassed);
    return verdict;
  }

  #record(call: ToolCall, worktree: string, verdict: GuardVerdict, bypassed?: string): void {
    const observed = verdict.observed?.flatMap(({ guard, isSlow }) => (isSlow ? [] : [guard])) ?? [];
    const entry = this.#entry(call, worktree, {
      verdict: bypassed === undefined ? VERDICTS[verdict.kind] : 'bypassed',
      guard: bypassed ?? (verdict.kind === 'allow' ? null : verdict.guard),
      observed,
    });
    this.#deps.calls?.record(entry);
    for (const guard of observed) void this.#hit(guard, entry);
  }

  #entry(call: ToolCall, worktree: string, said: Pick<CallEntry, 'verdict' | 'guard' | 'observed'>): CallEntry {
    const { runId: from, mode } = this.#run;
    return { ...callToRecord(call, worktree), at: this.#deps.clock.now(), source: 'run', from, mode, ...said };
  }

  /** A guard that only observes would have refused the call. */
  async #hit(guard: string, entry: CallEntry): Promise<void> {
    const count = (this.#hits.get(guard) ?? 0) + 1;
    this.#hits.set(guard, count);
    if (count > MOST_HITS) return;
    const { store, project, onNote } = this.#deps;
    try {
      const found = await this.#proposed(guard);
      if (!found) return;
      const about = { projectId: project.id, proposalId: found.id };
      await store.execute({ type: 'guard_proposal.hit', ...about, call: shownCall(entry) });
    } catch (error) {
      onNote(`a call that the guard ${guard} would refuse was not recorded`, error);
    }
  }

  /** Whether a person lets this call pass. The store gives a bypass to one call only. */
  async #takeBypass(call: ToolCall, worktree: string, guard: string): Promise<boolean> {
    const { subjectId: taskId } = this.#run;
    const found = await this.#proposed(guard);
    const { ownSessions, clock } = this.#deps;
    if (!found) return ownSessions?.takePass(guard, taskId, clock.now()) ?? false;
    if (found.bypass?.taskId !== taskId) return false;
    const about = { projectId: this.#deps.project.id, proposalId: found.id, taskId };
    const entry = this.#entry(call, worktree, { verdict: 'bypassed', guard, observed: [] });
    const reply = await this.#deps.store.execute({
      type: 'guard_proposal.use_bypass',
      ...about,
      call: shownCall(entry),
    });
    return reply.ok;
  }

  async #proposed(guard: string) {
    const { store, project } = this.#deps;
    const live = await store.records({ noun: 'guard_proposal', projectId: project.id, isOpen: true });
    return live.find(({ name }) => name === guard);
  }
}
