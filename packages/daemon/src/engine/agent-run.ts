import type { Feedback, Mode, Usage } from '@tidemill/contract';
import { MAX_TURNS, RUN_LIMIT_MS } from '@tidemill/core';
import type { AgentEnd, GuardVerdict, RunLog, ToolCall } from '../ports.ts';
import type { EngineDeps } from './deps.ts';
import type { Held } from './held.ts';

const RECORD_EVERY_MS = 1_000;
const DIFF_LIMIT = 200_000;
/** How often an agent that wants to end is asked to go on; after that the engine's own gates decide alone. */
const MAX_STOP_BLOCKS = 3;

/** One run's agent: started as often as the gates send it back, its output in one log, its usage added up. */
export class AgentRun {
  readonly usage: Usage = { inputTokens: 0, outputTokens: 0, costUsd: null, requests: 0 };
  readonly #deps: EngineDeps;
  readonly #held: Held;
  readonly #runId: string;
  readonly #mode: Mode;
  readonly #log: RunLog;
  /** What an agent that wants to end must still put right, or null; given by the stage. */
  readonly #beforeStop: () => Promise<string | null>;
  #attempt = 0;
  #stopBlocks = 0;
  #progressAt = 0;
  #spentAt = 0;
  #session: string | null = null;

  constructor(deps: EngineDeps, held: Held, runId: string, mode: Mode, beforeStop: () => Promise<string | null>) {
    this.#deps = deps;
    this.#held = held;
    this.#runId = runId;
    this.#mode = mode;
    this.#log = deps.openRunLog(runId);
    this.#beforeStop = beforeStop;
  }

  /** Lets the agent work once. Returns only when nothing of it is left running; throws when the work must stop. */
  async once(cwd: string, feedback: Feedback[]): Promise<AgentEnd> {
    const { task } = this.#held;
    this.#attempt += 1;
    const session = this.#deps.agentFor(this.#mode).start(
      {
        runId: this.#runId,
        cwd,
        timeoutMs: RUN_LIMIT_MS[this.#mode],
        maxTurns: MAX_TURNS[this.#mode],
        resume: this.#session,
        guard: (call) => this.#guard(call, cwd),
        beforeStop: () => this.#askBeforeStop(),
        brief: {
          mode: this.#mode,
          prompt: await this.#prompt(feedback),
          task: {
            id: task.id,
            number: task.number,
            title: task.title,
            body: task.body,
            acceptance: task.criteria.map(({ id, text }) => ({ id, text })),
            files: task.files,
            stage: task.stage,
          },
          attempt: (task.runs[this.#mode] ?? 0) + this.#attempt,
          feedback,
        },
      },
      {
        output: (chunk) => this.#log.write(chunk),
        usage: (usage) => this.#spend(usage),
        progress: (percent, text) => this.#progress(percent, text),
        session: (id) => this.#knowSession(id),
      },
    );
    const stop = () => void session.stop();
    this.#held.signal.addEventListener('abort', stop, { once: true });
    if (this.#held.signal.aborted) stop();
    const end = await session.end;
    this.#held.signal.removeEventListener('abort', stop);
    this.#held.check();
    return end;
  }

  close(): Promise<void> {
    return this.#log.close();
  }

  async #prompt(feedback: Feedback[]): Promise<string> {
    const { task, ref } = this.#held;
    const { workspace, store, project, prompts } = this.#deps;
    const diff = this.#mode === 'review' ? await workspace.diff(ref, DIFF_LIMIT) : '';
    const links = this.#mode === 'review' && task.head ? await store.evidenceForTree(project.id, task.head.tree) : [];
    const gates = links.map((link) => `${link.gate}: ${link.status} (${link.command})`).join('\n');
    return prompts.render({ task: { ...task, feedback }, mode: this.#mode, target: project.rules.target, diff, gates });
  }

  /** Every denial is on record before the agent hears of it. */
  async #guard(call: ToolCall, worktree: string): Promise<GuardVerdict> {
    const verdict = await this.#deps.guards.check(call, { worktree, mode: this.#mode });
    if (verdict.kind === 'deny') {
      const { guard, reason } = verdict;
      this.#record({ type: 'guard.deny', runId: this.#runId, guard, tool: call.tool, reason }, 'a denial');
    }
    return verdict;
  }

  async #askBeforeStop(): Promise<string | null> {
    if (this.#stopBlocks >= MAX_STOP_BLOCKS) return null;
    const why = await this.#beforeStop();
    if (why !== null) this.#stopBlocks += 1;
    return why;
  }

  /** Kept on record while the run goes on, so that an interrupted run is not free. */
  #spend(usage: Usage): void {
    this.usage.inputTokens += usage.inputTokens;
    this.usage.outputTokens += usage.outputTokens;
    this.usage.requests += usage.requests;
    if (usage.costUsd !== null) this.usage.costUsd = (this.usage.costUsd ?? 0) + usage.costUsd;
    const now = this.#deps.clock.now();
    if (now - this.#spentAt < RECORD_EVERY_MS) return;
    this.#spentAt = now;
    this.#record({ type: 'run.spend', runId: this.#runId, usage: { ...this.usage } }, 'spending');
  }

  #knowSession(session: string): void {
    if (session === this.#session) return;
    this.#session = session;
    this.#record({ type: 'run.know_session', runId: this.#runId, session }, 'the session');
  }

  #progress(percent: number, text: string): void {
    const now = this.#deps.clock.now();
    if (now - this.#progressAt < RECORD_EVERY_MS) return;
    this.#progressAt = now;
    this.#record({ type: 'run.progress', runId: this.#runId, percent, text }, 'progress');
  }

  /** What is told on the way is written beside the work; if it cannot be, the work goes on and the log says so. */
  #record(command: Parameters<Held['execute']>[0], what: string): void {
    this.#held
      .execute(command)
      .catch((error: unknown) => this.#deps.onNote(`${what} of run ${this.#runId} was not recorded`, error));
  }
}
