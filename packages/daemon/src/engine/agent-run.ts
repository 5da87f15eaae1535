import type { Feedback, Mode, Usage } from '@tidemill/contract';
import { RUN_LIMIT_MS } from '@tidemill/core';
import type { AgentEnd, RunLog } from '../ports.ts';
import type { EngineDeps } from './deps.ts';
import type { Held } from './held.ts';

const PROGRESS_EVERY_MS = 1_000;
const DIFF_LIMIT = 200_000;

/** One run's agent: started as often as the gates send it back, its output in one log, its usage added up. */
export class AgentRun {
  readonly usage: Usage = { inputTokens: 0, outputTokens: 0, costUsd: null };
  readonly #deps: EngineDeps;
  readonly #held: Held;
  readonly #runId: string;
  readonly #mode: Mode;
  readonly #log: RunLog;
  #attempt = 0;
  #progressAt = 0;

  constructor(deps: EngineDeps, held: Held, runId: string, mode: Mode) {
    this.#deps = deps;
    this.#held = held;
    this.#runId = runId;
    this.#mode = mode;
    this.#log = deps.openRunLog(runId);
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
        usage: (usage) => this.#add(usage),
        progress: (percent, text) => this.#progress(percent, text),
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

  #add(usage: Usage): void {
    this.usage.inputTokens += usage.inputTokens;
    this.usage.outputTokens += usage.outputTokens;
    if (usage.costUsd !== null) this.usage.costUsd = (this.usage.costUsd ?? 0) + usage.costUsd;
  }

  /** At most one a second reaches the log; a refused or failed one is only a picture missing. */
  #progress(percent: number, text: string): void {
    const now = this.#deps.clock.now();
    if (now - this.#progressAt < PROGRESS_EVERY_MS) return;
    this.#progressAt = now;
    this.#held
      .execute({ type: 'run.progress', runId: this.#runId, percent, text })
      .catch((error: unknown) => this.#deps.onNote(`progress of run ${this.#runId} was not recorded`, error));
  }
}
