import type { EventType, LoggedEvent, Mode, Proposal, Task } from '@tidemill/contract';
import { diagnoseStall, isStalled, isWorking, STALL_MS, type StallSight } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import type { StandingCondition } from '../reactors/standing-alerts.ts';

/** More are not named in an alert anyway. */
const MOST = 50;

/** What the engine knows about the agents. */
export interface StallHelp {
  restingModes(): Mode[];
  isOverBudget(): boolean;
}

const PROGRESS: EventType[] = [
  'proposal.made',
  'proposal.checked',
  'proposal.accepted',
  'proposal.refused',
  'proposal.ended',
  'category.rested',
  'task.created',
  'task.moved',
];

/** Notices when the loop makes no progress for an hour, and finds out what waits for what. */
export class StallWatch {
  readonly #deps: EngineDeps;
  readonly #help: StallHelp;
  /** Null while the loop is off, and before the log was read. */
  #lastProgressAt: number | null = null;
  #lastWorkAt = 0;

  constructor(deps: EngineDeps, help: StallHelp) {
    this.#deps = deps;
    this.#help = help;
  }

  reset(): void {
    this.#lastProgressAt = null;
  }

  follow(events: readonly LoggedEvent[]): void {
    for (const { at, body } of events)
      if (PROGRESS.includes(body.type) || (body.type === 'run.finished' && body.failure === null))
        this.#lastProgressAt = Math.max(this.#lastProgressAt ?? 0, at);
  }

  /** `since`: when the loop was switched on; `heldUntil`: its own budget is spent until then. */
  async look(
    now: number,
    proposals: Iterable<Proposal>,
    since: number,
    heldUntil: number | null,
  ): Promise<StandingCondition | null> {
    this.#lastProgressAt ??= Math.max(since, await this.#lastInLog(now));
    const stillMs = now - this.#lastProgressAt;
    if (stillMs < STALL_MS) return null;
    const sight = await this.#sight([...proposals], heldUntil);
    if (isWorking(sight)) this.#lastWorkAt = now;
    if (!isStalled(stillMs, now - Math.max(this.#lastProgressAt, this.#lastWorkAt), sight)) return null;
    const minutes = Math.floor(stillMs / 60_000);
    const text = [`The loop has made no progress for ${minutes} minutes.`, ...diagnoseStall(sight)].join('\n');
    return { kind: 'loop_stalled', subject: '', severity: 'warning', text };
  }

  /** An earlier daemon may have seen it. */
  async #lastInLog(now: number): Promise<number> {
    const { store, project } = this.#deps;
    const [last] = await store.events({ projectId: project.id, types: PROGRESS, newestFirst: true, limit: 1 });
    return last?.at ?? now;
  }

  async #sight(proposals: Proposal[], heldUntil: number | null): Promise<StallSight> {
    const { store, project } = this.#deps;
    const { id: projectId, rules } = project;
    const stages = Object.values(rules.pipelines).flatMap((pipeline) => Object.keys(pipeline.stages));
    const unfinished = [...new Set(['open', 'needs_info', 'blocked', ...stages])];
    const [tasks, workers, jobs] = await Promise.all([
      store.tasks({ projectId, stages: unfinished, limit: MOST }),
      store.workers(projectId),
      store.records({ noun: 'job', projectId, isOpen: true }),
    ]);
    const job = jobs.find(({ mode }) => mode === 'propose');
    const nameOf = (id: string) => workers.find((worker) => worker.id === id)?.name ?? id;
    return {
      waitingProposals: proposals.filter(({ status }) => status === 'waiting').length,
      uncheckedProposals: proposals.filter(({ status }) => status === 'checking').length,
      job: !job ? 'none' : job.lease ? 'runs' : 'waits',
      tasks: tasks.map((task) => ({
        number: task.number,
        stage: task.stage,
        worker: task.lease ? nameOf(task.lease.workerId) : null,
        waitsFor: waitsFor(task),
      })),
      workers: workers
        .filter(({ role }) => role === 'builder')
        .map(({ name, desired }) => ({ name, isRunning: desired === 'running' })),
      heldUntil,
      isOverBudget: heldUntil === null && this.#help.isOverBudget(),
      restingModes: this.#help.restingModes(),
    };
  }
}

function waitsFor({ blocked, openQuestions, waiting, unmet, role }: Task): string {
  const [question] = openQuestions;
  if (question) return `it waits for an answer: ${question.text}`;
  if (blocked) return `it is blocked, ${blocked.reason}: ${blocked.text}`;
  if (waiting !== null) return `it waits: ${waiting}`;
  if (unmet > 0) return `it waits for ${unmet} other task${unmet === 1 ? '' : 's'}`;
  return role === null ? 'it waits for a person' : '';
}
