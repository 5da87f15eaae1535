import { type Answer, type LoggedEvent, REACTORS, type Reflection, reflectionId } from '@tidemill/contract';
import type { NewReflection } from '@tidemill/core';
import type { Reactor, ReactorCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { askAbout } from '../learning/ask.ts';
import { recordLesson } from '../learning/record-lesson.ts';
import { reflectionOnTask } from '../learning/reflect-on.ts';
import { reflectionOnSpec } from '../learning/reflect-on-spec.ts';

const DAY_MS = 24 * 3_600_000;
/** More in a day would be about the same. */
const MOST_PER_DAY = 50;

const OFFER = 'reflection_offer';
/** Only a person's own yes counts, not an answer in their place. */
const isYes = ({ source, option }: Answer) => source === 'user' && option === 'Yes';
const SENT_BACK = ['changes_requested', 'failed'];
const isBack = ({ because }: { because: string }) => SENT_BACK.includes(because);

/**
 * Reflects on work that did not go as planned, if the settings allow it.
 *
 *   ended, something to learn, money left ──▶ job: which assumption failed ──▶ job: how to prevent it ──▶ lesson
 * The id of a reflection comes from the task's ending, so a repetition changes nothing.
 */
export class ReflectionWatch implements Reactor {
  readonly name = 'reflections';
  readonly projectId: string;
  readonly on = REACTORS.reflections.on;
  readonly #deps: EngineDeps;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.projectId = deps.project.id;
  }

  async handle(call: ReactorCall): Promise<void> {
    if (call.cause === 'start') return this.#settleAll();
    if (call.cause === 'events') for (const event of call.events) await this.#follow(event);
  }

  async #follow({ body }: LoggedEvent): Promise<void> {
    const { store, project } = this.#deps;
    if (body.type === 'reflection.prevented') return this.#settle(await store.record('reflection', body.reflectionId));
    const { learning } = project.rules;
    if (!learning?.reflection || learning.reflection.enabled === false || !learning.enabled) return;
    if (body.type === 'question.answered') return this.#allowed(body);
    if (body.type === 'task.blocked' || (body.type === 'task.moved' && (body.to === 'done' || isBack(body))))
      return this.#onTask(body.taskId);
    if (body.type === 'spec.judged' || body.type === 'spec.accepted') {
      const spec = await store.record('spec', body.subjectId);
      if (spec?.status !== 'done' || !(await this.#consent())) return;
      return this.#request(reflectionId(spec.id, spec.number), await reflectionOnSpec(this.#deps, spec));
    }
  }

  async #onTask(taskId: string): Promise<void> {
    const { store } = this.#deps;
    const task = await store.task(taskId);
    if (!task) return;
    const consent = await this.#consent();
    // Work that was only sent back is no reason to interrupt a person.
    if (consent === false || (consent === null && task.blocked === null)) return;
    // What sent it back was looked at when it happened.
    const earlier = task.blocked ? [] : await store.records({ noun: 'reflection', parent: task.id });
    if (earlier.length > 0) return;
    const reflection = await reflectionOnTask(this.#deps, task);
    if (consent === null) return reflection === null ? undefined : this.#offer(reflection);
    await this.#request(reflectionId(task.id, task.stageSince), reflection);
  }

  /** A person said yes to the offer: what it was about is looked at now. */
  async #allowed({ questionId, answer }: Extract<LoggedEvent['body'], { type: 'question.answered' }>): Promise<void> {
    const question = await this.#deps.store.record('question', questionId);
    const [trigger, taskId = ''] = question?.sourceId.split('/') ?? [];
    if (trigger === OFFER && isYes(answer)) await this.#onTask(taskId);
  }

  /** Whether money may be spent on it; null when nobody has decided yet. Nobody is asked twice. */
  async #consent(): Promise<boolean | null> {
    const { store, project } = this.#deps;
    const { enabled } = project.rules.learning?.reflection ?? {};
    if (enabled !== undefined) return enabled;
    const asked = await store.records({ noun: 'question', projectId: this.projectId });
    const offers = asked.filter(({ sourceId }) => sourceId.startsWith(`${OFFER}/`));
    return offers.length === 0 ? null : offers.some(({ answer }) => answer !== null && isYes(answer));
  }

  async #offer({ about, why }: NewReflection): Promise<void> {
    const { budgetUsdPerDay = 0 } = this.#deps.project.rules.learning?.reflection ?? {};
    const facts = { about: `#${about.number} ${about.title}`, reason: why, usd: budgetUsdPerDay.toFixed(2) };
    await askAbout(this.#deps, OFFER, about.id, facts);
  }

  async #request(id: string, reflection: NewReflection | null): Promise<void> {
    const { store, onNote } = this.#deps;
    if (reflection === null || (await store.record('reflection', id))) return;
    const why = await this.#exhausted();
    if (why !== null) return onNote(`no reflection about ${reflection.about.title}: ${why}`);
    const reply = await store.execute({
      type: 'reflection.request',
      projectId: this.projectId,
      reflectionId: id,
      reflection,
    });
    if (!reply.ok) onNote(`a reflection was refused: ${reply.refusal.message}`);
  }

  /** Why nothing more is asked today; null when it may be. */
  async #exhausted(): Promise<string | null> {
    const { store, clock, project } = this.#deps;
    const after = clock.now() - DAY_MS;
    const runs = await store.runsEnded({ projectId: this.projectId, after });
    const asked = runs.filter(({ mode }) => mode === 'reflect' || mode === 'prevent');
    const spentUsd = asked.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
    const limit = project.rules.learning?.reflection?.budgetUsdPerDay ?? 0;
    if (spentUsd >= limit) return `${spentUsd.toFixed(2)} of ${limit.toFixed(2)} USD a day are spent`;
    const open = await store.records({ noun: 'reflection', projectId: this.projectId, isOpen: true });
    return asked.length / 2 + open.length >= MOST_PER_DAY ? `${MOST_PER_DAY} a day are enough` : null;
  }

  /** Also what the last process left. */
  async #settleAll(): Promise<void> {
    const open = await this.#deps.store.records({ noun: 'reflection', projectId: this.projectId, isOpen: true });
    for (const reflection of open) await this.#settle(reflection);
  }

  async #settle(reflection: Reflection | null): Promise<void> {
    if (reflection?.status !== 'prevented' || !reflection.prevention) return;
    const { store, ids, project, onNote } = this.#deps;
    const { id, about, prevention, runId, traceIds } = reflection;
    const taskIds = about.kind === 'task' ? [about.id] : [];
    const origin = { traceIds, taskIds, runId, by: { kind: 'agent' as const, id: runId ?? id, name: 'reflection' } };
    const draft = { ...prevention, scope: 'project' as const };
    const recorded = await recordLesson({ store, ids, project }, draft, origin, `lesson_of_${id}`);
    const outcome =
      recorded.kind === 'refused'
        ? `the lesson was refused: ${recorded.refusal.message}`
        : `lesson L${recorded.lesson.number} was ${recorded.kind === 'known' ? 'known already' : recorded.kind}`;
    const lessonId = recorded.kind === 'refused' ? null : recorded.lesson.id;
    const reply = await store.execute({
      type: 'reflection.end',
      projectId: this.projectId,
      reflectionId: id,
      outcome,
      lessonId,
      taskId: about.kind === 'task' ? about.id : null,
    });
    if (!reply.ok) onNote(`a reflection could not be ended: ${reply.refusal.message}`);
  }
}
