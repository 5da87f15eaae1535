import { ENGINE, REACTORS, type Replay, type ReplayRun, replayRef, sumUsd } from '@tidemill/contract';
import { type Command, meanOf, reportOf } from '@tidemill/core';
import type { Reactor } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { leftOf } from '../replay/plan.ts';

/**
 * Leads replays from run to run: asks for as many at once as there are builders, ends a replay when all have ended, and
 * stops it when its money is spent. It looks at the rows, so that a restart continues where the last process was.
 */
export class ReplayWatch implements Reactor {
  readonly name = 'replays';
  readonly projectId: string;
  readonly on = REACTORS.replays.on;
  readonly atOnce = 200;
  readonly #deps: EngineDeps;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.projectId = deps.project.id;
  }

  async handle(): Promise<void> {
    const { store } = this.#deps;
    const open = await store.records({ noun: 'replay', projectId: this.projectId, isOpen: true });
    for (const replay of open.sort((a, b) => a.number - b.number)) await this.#lead(replay);
  }

  async #lead(replay: Replay): Promise<void> {
    const { store } = this.#deps;
    const { projectId } = replay;
    const runs = await store.records({ noun: 'replay_run', parent: replay.id });
    const atWork = runs.filter(({ result }) => result === null);
    if (replay.status === 'stopping') {
      await this.#cancel(replay, atWork);
      return this.#endIfOver(replay);
    }
    const left = leftOf(replay, runs);
    if (left.length === 0) return atWork.length === 0 ? this.#endIfOver(replay) : undefined;
    const affordable = await this.#affordable(replay, runs);
    if (affordable.count === 0) return atWork.length === 0 ? this.#stop(replay, affordable.spentUsd) : undefined;
    const free = Math.max(1, this.#deps.workers) - atWork.length;
    for (const { taskId, variant, repeat } of left.slice(0, Math.max(0, Math.min(free, affordable.count))))
      await this.#must({ type: 'replay.try', projectId, replayId: replay.id, taskId, variant, repeat });
  }

  /** How many more runs its money covers, as far as the ended ones tell. The first one runs alone. */
  async #affordable({ limitUsd }: Replay, runs: readonly ReplayRun[]): Promise<{ count: number; spentUsd: number }> {
    const spentUsd = await this.#spent(runs);
    if (spentUsd >= limitUsd) return { count: 0, spentUsd };
    const ended = runs.filter(({ result }) => result !== null);
    if (ended.length === 0) return { count: runs.length === 0 ? 1 : 0, spentUsd };
    const each = meanOf(ended.flatMap(({ result }) => result?.costUsd ?? []))?.value ?? 0;
    if (each === 0) return { count: Number.MAX_SAFE_INTEGER, spentUsd };
    const coming = each * (runs.length - ended.length);
    return { count: Math.max(0, Math.floor((limitUsd - spentUsd - coming) / each)), spentUsd };
  }

  async #stop({ id: replayId, projectId, limitUsd }: Replay, spentUsd: number): Promise<void> {
    const why = `its limit of ${limitUsd.toFixed(2)} USD is reached (${spentUsd.toFixed(2)} USD were spent)`;
    await this.#must({ type: 'replay.stop', projectId, replayId, why, by: ENGINE });
  }

  /** The runs of cancelled jobs count as void. */
  async #cancel({ number, projectId }: Replay, atWork: readonly ReplayRun[]): Promise<void> {
    for (const { jobId, id: subjectId } of atWork)
      await this.#must({ type: 'job.cancel', projectId, jobId, subjectId, why: `${replayRef(number)} was stopped` });
  }

  async #endIfOver(replay: Replay): Promise<void> {
    const runs = await this.#deps.store.records({ noun: 'replay_run', parent: replay.id });
    if (runs.some(({ result }) => result === null)) return;
    const names = replay.variants.map(({ name }) => name);
    const report = reportOf(names, runs);
    const { id: replayId, projectId } = replay;
    await this.#must({ type: 'replay.end', projectId, replayId, report, spentUsd: await this.#spent(runs) });
  }

  async #spent(runs: readonly ReplayRun[]): Promise<number> {
    let total = 0;
    for (const { id, result } of runs) total = sumUsd(total, result?.costUsd ?? (await this.#costOf(id)));
    return total;
  }

  /** Of a run that is at work or ended without a measurement. */
  async #costOf(replayRunId: string): Promise<number> {
    const runs = await this.#deps.store.runs(replayRunId);
    return runs.reduce((total, { usage }) => sumUsd(total, usage.costUsd ?? 0), 0);
  }

  /** A refusal means that something changed meanwhile. The event of that change comes next. */
  async #must(command: Command): Promise<void> {
    const { store, onNote } = this.#deps;
    const reply = await store.execute(command);
    if (!reply.ok) onNote(`${command.type} was refused: ${reply.refusal.message}`);
  }
}
