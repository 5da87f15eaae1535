import {
  type BlockReason,
  type EventBody,
  type Evidence,
  findingText,
  isBlocking,
  type LoggedEvent,
  REACTORS,
  type Run,
  type Task,
} from '@tidemill/contract';
import { workedTime } from '@tidemill/core';
import type { OwnWrites, Reactor, ReactorCall, Trigger, TriggerFacts } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

/** Block reasons caused by a failed agent. Other blocks already ask a person. */
const FAILED: BlockReason[] = ['agent_failed', 'no_progress', 'validation'];
const FOLLOWED = REACTORS['catalogue-triggers'].on;
/** A run that takes more than this many times the average raises a question. */
const TIMES = 3;
/** Minimum number of runs for an average. */
const ENOUGH_RUNS = 5;
/** Minimum number of tasks for milestones. */
const ENOUGH_TASKS = 4;
const HISTORY_MS = 30 * 24 * 3_600_000;
const SHOWN_RUNS = 5;
const COVERAGE = 'coverage_below_threshold';
/** The answer that makes a task. */
const ADD_TESTS = 'Add a task for more tests';

type Excess = Pick<TriggerFacts['task_complexity_exceeded'], 'times' | 'expected' | 'actual'>;

/** Follows the log and raises the catalogue's questions. */
export class CatalogueTriggers implements Reactor {
  readonly name = 'catalogue-triggers';
  readonly projectId: string;
  readonly on = FOLLOWED;
  readonly own: OwnWrites;
  readonly #deps: EngineDeps;
  readonly #usual = new Map<string, { runs: number; totalMs: number }>();
  /** Runs whose excess was already reported. */
  readonly #alerted = new Set<string>();

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.projectId = deps.project.id;
    this.own = deps.reactors.watchWrites(deps.store, FOLLOWED);
  }

  async handle(call: ReactorCall): Promise<void> {
    if (call.cause === 'start') await this.#catchUp();
    if (call.cause === 'events') for (const event of call.events) await this.#consider(event);
  }

  /** Loads the average run times and asks the questions that an earlier daemon missed. */
  async #catchUp(): Promise<void> {
    const { store, project, clock } = this.#deps;
    this.#usual.clear();
    for (const run of await store.runsEnded({ projectId: project.id, after: clock.now() - HISTORY_MS }))
      this.#remember(run);
    for (const task of await store.tasks({ projectId: project.id, stages: ['blocked'] }))
      if (task.openQuestions.length === 0) await this.#blocked(task);
    for (const { id } of await store.records({ noun: 'question', parent: project.id })) await this.#answered(id);
  }

  async #consider({ body }: LoggedEvent): Promise<void> {
    const { store } = this.#deps;
    switch (body.type) {
      case 'task.blocked': {
        const task = await store.task(body.taskId);
        return task?.stage === 'blocked' ? this.#blocked(task) : undefined;
      }
      case 'task.moved':
        return body.to === 'done' ? this.#finished(body.taskId) : undefined;
      case 'merge.landed':
        return this.#landed(body);
      case 'run.spent':
        return this.#looked(body.runId);
      case 'run.finished':
        return this.#looked(body.runId);
      case 'question.answered':
        return this.#answered(body.questionId);
      default:
        return;
    }
  }

  async #blocked(task: Task): Promise<void> {
    const { reason, text } = task.blocked ?? {};
    if (!reason || !FAILED.includes(reason)) return;
    const { number, title } = task;
    // An agent that repeats its code makes no progress. Its gates say what is wrong all the same.
    const failing = reason === 'agent_failed' ? [] : await this.#failingGates(task);
    const danger = failing.map(dangerOf).find((found) => found !== null);
    if (danger && (await this.#raise('security_vulnerability', task, { number, title, ...danger }))) return;
    if (reason === 'validation' && failing.length > 1) {
      const names = failing.map(({ gate }) => `- ${gate}`).join('\n');
      const facts = { number, title, count: failing.length, failing: names };
      if (await this.#raise('multiple_failures', task, facts)) return;
    }
    const runs = await this.#deps.store.runs(task.id);
    const facts = { number, title, error: text ?? '', runs: runs.length, tried: summaryOf(runs) };
    await this.#raise('task_failed_repeatedly', task, facts);
  }

  /** A person wants more tests: the question's own words are the task. Its id makes a repetition harmless. */
  async #answered(questionId: string): Promise<void> {
    const { store, projectId } = { store: this.own.store, projectId: this.projectId };
    const question = await store.record('question', questionId);
    if (question?.sourceId !== COVERAGE || question.answer?.option !== ADD_TESTS) return;
    const taskId = `task_${question.id.replace(/^[a-z]+_/, '')}`;
    if (question.answer.source !== 'user' || (await store.task(taskId))) return;
    const made = { title: 'Add tests for the least tested files', body: question.text, kind: 'feature' as const };
    const accept = [
      'The coverage gate reaches its goal',
      'The new tests fail when the behaviour that they check breaks',
    ];
    const links = { files: [], dependsOn: [], priority: 2 };
    const reply = await store.execute({ type: 'task.create', projectId, taskId, ...made, accept, ...links });
    if (!reply.ok) this.#deps.onNote(`no task for more tests was made: ${reply.refusal.message}`);
  }

  async #failingGates(task: Task): Promise<Evidence[]> {
    if (!task.head) return [];
    const links = await this.#deps.store.evidenceForTree(task.projectId, task.head.tree);
    const newest = new Map(links.sort((a, b) => a.position - b.position).map((link) => [link.gate, link]));
    return [...newest.values()].filter((link) => link.status === 'fail' && isBlocking(link));
  }

  async #finished(taskId: string): Promise<void> {
    const { store, project } = this.#deps;
    // A specification has milestones of its own.
    if ((await store.task(taskId))?.origin?.kind === 'spec') return;
    const { byStage } = await store.workload(project.id);
    const { done = 0, cancelled = 0 } = byStage;
    const total = Object.values(byStage).reduce((sum, count) => sum + count, 0) - cancelled;
    const isReached = (share: number) => done >= total * share && done - 1 < total * share;
    if (total < ENOUGH_TASKS || !(isReached(0.5) || isReached(1))) return;
    await this.#raise('milestone_reached', null, { name: '', done, total, percent: Math.floor((done / total) * 100) });
  }

  async #landed({ taskId, tree }: Extract<EventBody, { type: 'merge.landed' }>): Promise<void> {
    const { store, project } = this.#deps;
    const task = await store.task(taskId);
    if (!task) return;
    const of = { projectId: project.id, taskId, types: ['merge.prepared' as const] };
    const [prepared] = await store.events({ ...of, after: 0, newestFirst: true, limit: 1 });
    // In a batch the gates ran on the tree of its last commit.
    const proven = prepared?.body.type === 'merge.prepared' ? prepared.body.proven : undefined;
    const links = await store.evidenceForTree(project.id, proven ?? tree);
    const passed = new Set(links.filter(({ status }) => status === 'pass').map(({ gate }) => gate));
    const facts = { number: task.number, title: task.title, gates: passed.size, checks: [...passed].join(', ') };
    await this.#raise('validation_passed', null, facts);
    for (const { status, scan } of new Map(links.map((link) => [link.gate, link])).values()) {
      if (status !== 'fail' || scan?.kind !== 'coverage' || scan.percent === null || scan.threshold === null) continue;
      const uncovered = scan.missing.map((each) => `- ${each}`).join('\n') || '- (no file is named)';
      const { number, title } = task;
      const share = { coverage: scan.percent, threshold: scan.threshold, uncovered };
      await this.#raise(COVERAGE, null, { number, title, ...share });
    }
  }

  /** Compares a run with the average of its mode and its reserved budget, and its task with the estimate. */
  async #looked(runId: string): Promise<void> {
    const run = await this.#deps.store.run(runId);
    if (!run) return;
    const task = this.#alerted.has(run.id) ? null : await this.#deps.store.task(run.subjectId);
    const excess = task ? (this.#excess(run) ?? (await this.#beyondEstimate(task))) : null;
    if (excess && task) {
      const { number, title } = task;
      await this.#raise('task_complexity_exceeded', task, { number, title, ...excess });
      this.#alerted.add(run.id);
    }
    // Last, so that a repeated call counts the run once.
    if (run.status !== 'finished') return;
    this.#remember(run);
    this.#alerted.delete(run.id);
  }

  /** The time of all its runs, against what its specification says. */
  async #beyondEstimate({ id, estimateMinutes }: Task): Promise<Excess | null> {
    if (estimateMinutes === null) return null;
    const workedMs = workedTime(await this.#deps.store.runs(id), 0, this.#deps.clock.now());
    const estimateMs = estimateMinutes * 60_000;
    if (workedMs <= estimateMs * TIMES) return null;
    const expected = `${minutes(estimateMs)} as its specification estimates`;
    return { times: Math.round(workedMs / estimateMs), expected, actual: minutes(workedMs) };
  }

  #excess(run: Run): Excess | null {
    const usual = this.#usual.get(run.mode);
    const tookMs = (run.endedAt ?? this.#deps.clock.now()) - run.startedAt;
    const usualMs = usual && usual.runs >= ENOUGH_RUNS ? usual.totalMs / usual.runs : Number.POSITIVE_INFINITY;
    if (tookMs > usualMs * TIMES)
      return { times: Math.round(tookMs / usualMs), expected: `${minutes(usualMs)} as usual`, actual: minutes(tookMs) };
    const { costUsd } = run.usage;
    if (costUsd === null || run.reservedUsd <= 0 || costUsd <= run.reservedUsd * TIMES) return null;
    const usd = (amount: number) => `${amount.toFixed(2)} USD`;
    return {
      times: Math.round(costUsd / run.reservedUsd),
      expected: `${usd(run.reservedUsd)} as usual`,
      actual: usd(costUsd),
    };
  }

  #remember({ mode, startedAt, endedAt, outcome }: Pick<Run, 'mode' | 'startedAt' | 'endedAt' | 'outcome'>): void {
    if (endedAt === null || outcome === 'interrupted') return;
    const { runs, totalMs } = this.#usual.get(mode) ?? { runs: 0, totalMs: 0 };
    this.#usual.set(mode, { runs: runs + 1, totalMs: totalMs + endedAt - startedAt });
  }

  /** Returns whether a question was raised. */
  async #raise<T extends Trigger>(trigger: T, task: Task | null, facts: TriggerFacts[T]): Promise<boolean> {
    const { project, catalogue, onNote } = this.#deps;
    const raised = catalogue?.raise(trigger, facts) ?? [];
    for (const { question, effect } of raised) {
      const reply = await this.own.store.execute({
        type: 'question.ask',
        projectId: project.id,
        taskId: task?.id ?? null,
        stage: task?.stage ?? '',
        agent: 'tidemill',
        source: 'catalogue',
        sourceId: trigger,
        effect,
        questions: [question],
      });
      if (!reply.ok) onNote(`${trigger} was not asked: ${reply.refusal.message}`);
    }
    return raised.length > 0;
  }
}

/** What a gate found that endangers security; null when it did not. */
function dangerOf({ gate, scan }: Evidence): Omit<TriggerFacts['security_vulnerability'], 'number' | 'title'> | null {
  const [worst] = scan?.findings ?? [];
  if (!scan || !worst) return null;
  const { id, severity, file, line } = worst;
  const where = file === null ? '' : ` in ${file}${line === null ? '' : `:${line}`}`;
  const details = scan.findings.map((found) => `- ${findingText(found)}`).join('\n');
  return { gate, kind: id, severity, where, details };
}

const minutes = (ms: number) => (ms < 60_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`);

const summaryOf = (runs: Run[]) =>
  runs
    .slice(-SHOWN_RUNS)
    .map(({ mode, outcome, failure, summary }) => {
      const [line = ''] = summary.split('\n');
      return `- ${mode}: ${failure ?? outcome ?? 'under way'}${line ? `, ${line.slice(0, 200)}` : ''}`;
    })
    .join('\n');
