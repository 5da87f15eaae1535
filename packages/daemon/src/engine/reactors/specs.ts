import {
  AppError,
  ENGINE,
  elapsed,
  type LoggedEvent,
  type Question,
  REACTORS,
  type Spec,
  SpecRules,
  type SpecVersion,
  specVersionId,
} from '@tidemill/contract';
import {
  abortReason,
  asksFirst,
  type BuildState,
  buildState,
  type Command,
  critiqueOf,
  workedTime,
} from '@tidemill/core';
import type { OwnWrites, Reactor, ReactorCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { approveSpec, extendSpec, stopSpec } from '../flows/spec.ts';
import {
  aboutDraft,
  isAgreed,
  milestone,
  openPoints,
  sourceOf,
  UNMET,
  UNMET_CHOICES,
  unmetQuestion,
  versionName,
} from './spec-questions.ts';
import { StandingAlerts } from './standing-alerts.ts';

const FOLLOWED = REACTORS.specs.on;
const MINUTE = 60_000;
/** How long a draft waits for a critic that nobody works on. */
const CRITIC_WAIT_MS = 15 * MINUTE;
/** Shares of the tasks at which a person is told. */
const MILESTONES = [0.5, 1];

/** Moves specifications on: asks what is unclear, watches the building, and has each requirement checked. */
export class SpecWatch implements Reactor {
  readonly name = 'specs';
  readonly projectId: string;
  readonly on = FOLLOWED;
  readonly atOnce = 100;
  readonly own: OwnWrites;
  readonly #deps: EngineDeps;
  readonly #alerts: StandingAlerts;
  /** The specification of each task that is being built. */
  #byTask = new Map<string, string>();

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.projectId = deps.project.id;
    this.own = deps.reactors.watchWrites(deps.store, FOLLOWED);
    this.#alerts = new StandingAlerts({ project: deps.project, store: this.own.store }, ['spec_stopped']);
  }

  async handle(call: ReactorCall): Promise<void> {
    const { store } = this.#deps;
    const named = call.cause === 'events' ? await this.#specsOf(call.events) : null;
    if (named?.size === 0) return;
    const open = await store.records({ noun: 'spec', projectId: this.projectId, isOpen: true });
    for (const spec of open) if (!named || named.has(spec.id)) await this.#moveOn(spec);
    await this.#remember(call);
  }

  async #specsOf(events: readonly LoggedEvent[]): Promise<Set<string>> {
    const specs = new Set<string>();
    for (const { body } of events) {
      if (body.type.startsWith('spec.') && 'subjectId' in body) specs.add(body.subjectId as string);
      else if (body.type === 'question.answered' || body.type === 'question.closed') {
        const about = body.taskId === null ? await this.#deps.store.record('question', body.questionId) : null;
        if (about?.subjectId) specs.add(about.subjectId);
      } else if ('taskId' in body && body.taskId) {
        const spec = this.#byTask.get(body.taskId);
        if (spec !== undefined) specs.add(spec);
      }
    }
    return specs;
  }

  /** Which tasks matter from now on, and what a person should know. */
  async #remember(call: ReactorCall): Promise<void> {
    const { store } = this.#deps;
    const open = await store.records({ noun: 'spec', projectId: this.projectId, isOpen: true });
    const built = open.filter(({ status }) => status === 'approved' || status === 'building');
    this.#byTask = new Map(built.flatMap(({ id, tasks }) => tasks.map(({ taskId }) => [taskId, id] as const)));
    // The time limits are the only thing that no event tells.
    if (built.length > 0 || open.some(({ criticJobId }) => criticJobId !== null)) call.tickIn(MINUTE);
    const isStopped = ({ status, stoppedBy }: Spec) =>
      status === 'failed' || (status === 'aborted' && stoppedBy?.kind === 'engine');
    await this.#alerts.settle(
      open.filter(isStopped).map(({ number, title, why }) => ({
        kind: 'spec_stopped',
        subject: `S${number}`,
        severity: 'error',
        text: `S${number} "${title}" has stopped: ${why}. Continue it with \`tidemill spec resume ${number}\`.`.slice(
          0,
          4_000,
        ),
      })),
    );
  }

  async #moveOn(spec: Spec): Promise<void> {
    const version = spec.version > 0 ? await this.#version(spec) : null;
    switch (spec.status) {
      case 'asking':
        return this.#clarify(spec, version);
      case 'draft':
        return version ? this.#present(spec, version) : undefined;
      case 'approved':
      case 'building':
        return this.#build(spec);
      case 'checking':
        return this.#unmet(spec);
      default:
        return;
    }
  }

  #version({ id, version }: Spec): Promise<SpecVersion | null> {
    return this.#deps.store.record('spec_version', specVersionId(id, version));
  }

  /** Asks what the draft leaves open. With nothing to ask, it goes to a person as it is. */
  async #clarify(spec: Spec, version: SpecVersion | null): Promise<void> {
    if (version && asksFirst(version.draft))
      await this.#ask(spec, openPoints(this.#deps.catalogue, version.draft), versionName(spec));
    await this.#execute({ type: 'spec.settle', projectId: this.projectId, specId: spec.id });
  }

  /** Asks about a finished draft, and does what the answers say. A document by hand needs no questions. */
  async #present(spec: Spec, { by, draft, version }: SpecVersion): Promise<void> {
    if (by.kind !== 'agent' || (await this.#isCritiqued(spec))) return;
    const at = versionName(spec);
    const raised = aboutDraft(this.#deps.catalogue, draft, critiqueOf(spec, version));
    const asked = await this.#ask(spec, raised, at);
    const answered = (trigger: string) => asked.find(({ sourceId }) => sourceId === sourceOf(trigger, at));
    for (const trigger of ['before_finalize_spec', 'external_dependencies']) {
      const question = answered(trigger);
      if (!question?.answer || isAgreed(question) !== false) continue;
      const text = `Asked: ${question.text}\nAnswer: ${question.answer.text}`;
      const comments = [{ line: 0, quote: '', text }];
      const about = { projectId: this.projectId, specId: spec.id, version, by: question.answer.by };
      return this.#execute({ type: 'spec.revise', ...about, comments });
    }
    const complete = answered('spec_complete');
    if (!complete?.answer || !isAgreed(complete)) return;
    const approval = { version, override: false, by: complete.answer.by };
    await this.#tried(`S${spec.number} was not approved`, () => approveSpec(this.#tools, spec, approval));
  }

  /** Whether a critic still reads it. Nobody waits for long: a critic that no worker takes up is left out. */
  async #isCritiqued({ id: subjectId, criticJobId: jobId }: Spec): Promise<boolean> {
    if (jobId === null) return false;
    const job = await this.#deps.store.record('job', jobId);
    if (!job || job.lease !== null || this.#deps.clock.now() - job.createdAt < CRITIC_WAIT_MS) return true;
    const why = `no agent took it within ${elapsed(CRITIC_WAIT_MS)}`;
    await this.#execute({ type: 'job.cancel', projectId: this.projectId, subjectId, jobId, why });
    return true;
  }

  async #build(spec: Spec): Promise<void> {
    const { store } = this.#deps;
    const ids = spec.tasks.map(({ taskId }) => taskId);
    const rows = new Map((await store.tasks({ projectId: this.projectId, ids })).map((task) => [task.id, task]));
    const state = buildState(spec, rows);
    const about = { projectId: this.projectId, specId: spec.id };
    if (state.total === 0) return this.#abort(spec, state, 'all its tasks were cancelled');
    if (spec.status === 'approved' && state.hasStarted) await this.#execute({ type: 'spec.begin', ...about });
    const why = abortReason(spec, state, { workedMs: await this.#workedMs(spec), limitMs: this.#rules.buildLimitMs });
    if (why !== null) return this.#abort(spec, state, why);
    await this.#milestones(spec, state);
    if (!state.isComplete) return;
    const landed = new Set([...rows.values()].flatMap(({ id, landedCommit }) => (landedCommit ? [id] : [])));
    const all = [...new Set(spec.tasks.flatMap(({ requirements }) => requirements))];
    const isBuilt = (id: string) =>
      spec.tasks.some((task) => task.requirements.includes(id) && landed.has(task.taskId));
    await this.#execute({ type: 'spec.check', ...about, unbuilt: all.filter((id) => !isBuilt(id)) });
  }

  /** How long agents worked on its tasks since it began, or was continued. Read only when that can exceed the limit. */
  async #workedMs({ tasks, buildingSince }: Spec): Promise<number> {
    const { store, clock } = this.#deps;
    const now = clock.now();
    if (buildingSince === null || now - buildingSince <= this.#rules.buildLimitMs) return 0;
    const runs = await Promise.all(tasks.map(({ taskId }) => store.runs(taskId)));
    return workedTime(runs.flat(), buildingSince, now);
  }

  async #abort(spec: Spec, { unstarted }: BuildState, why: string): Promise<void> {
    const order = { why, by: ENGINE, unstarted: unstarted.map(({ id }) => id) };
    await this.#tried(`S${spec.number} was not stopped`, () => stopSpec(this.own.store, spec, order));
  }

  async #milestones(spec: Spec, { done, total }: BuildState): Promise<void> {
    const reached = MILESTONES.filter((share) => done >= total * share).at(-1);
    if (reached === undefined) return;
    await this.#ask(spec, [milestone(this.#deps.catalogue, spec, { done, total })], `${reached * 100}-${total}`);
  }

  /** A requirement is not met: a person decides. */
  async #unmet(spec: Spec): Promise<void> {
    if (spec.verdicts.every(({ met }) => met)) return;
    const round = String(spec.tasks.length);
    const asked = await this.#ask(spec, [{ trigger: UNMET, questions: [unmetQuestion(spec)] }], round, 'engine');
    const answer = asked.find(({ sourceId }) => sourceId === sourceOf(UNMET, round))?.answer;
    if (!answer) return;
    const about = { projectId: this.projectId, specId: spec.id, by: answer.by };
    if (answer.option === UNMET_CHOICES.accept) return this.#execute({ type: 'spec.accept', ...about });
    const note = answer.option === null ? answer.text : '';
    await this.#tried(`S${spec.number} was not extended`, () => extendSpec(this.#tools, spec, { note, by: answer.by }));
  }

  /** Asks each question once, and returns all questions about the specification. */
  async #ask(
    spec: Spec,
    raised: { trigger: string; questions: Extract<Command, { type: 'question.ask' }>['questions'] }[],
    at: string,
    source: Question['source'] = 'catalogue',
  ): Promise<Question[]> {
    const { store } = this.own;
    const known = await store.records({ noun: 'question', parent: spec.id });
    const isKnown = (trigger: string) =>
      known.some(({ sourceId, status }) => sourceId === sourceOf(trigger, at) && status !== 'withdrawn');
    const commands = raised
      .filter(({ trigger, questions }) => questions.length > 0 && !isKnown(trigger))
      .map(
        ({ trigger, questions }): Command => ({
          type: 'question.ask',
          projectId: this.projectId,
          taskId: null,
          subjectId: spec.id,
          stage: at,
          agent: 'tidemill',
          source,
          sourceId: sourceOf(trigger, at),
          questions,
        }),
      );
    if (commands.length === 0) return known;
    // All at once: the first answer must not be taken for the last one.
    const reply = await store.executeAll(commands);
    if (!reply.ok) this.#deps.onNote(`S${spec.number}: a question was not asked: ${reply.refusal.message}`);
    return store.records({ noun: 'question', parent: spec.id });
  }

  get #rules(): SpecRules {
    return SpecRules.parse(this.#deps.project.rules.specs ?? {});
  }

  get #tools() {
    const { ids, knowledge } = this.#deps;
    return { store: this.own.store, ids, knowledge };
  }

  async #execute(command: Command): Promise<void> {
    const reply = await this.own.store.execute(command);
    if (!reply.ok) this.#deps.onNote(`${command.type} was refused: ${reply.refusal.message}`);
  }

  /** What was decided may no longer be possible. */
  async #tried(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.#deps.onNote(`${what}: ${error.message}`);
    }
  }
}
