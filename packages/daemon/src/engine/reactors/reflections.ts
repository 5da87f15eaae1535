import { type LoggedEvent, REACTORS, type Reflection, reflectionId } from '@tidemill/contract';
import type { NewReflection } from '@tidemill/core';
import type { Reactor, ReactorCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { recordLesson } from '../learning/record-lesson.ts';
import { reflectionOnTask } from '../learning/reflect-on.ts';
import { reflectionOnSpec } from '../learning/reflect-on-spec.ts';

const DAY_MS = 24 * 3_600_000;
/** More in a day would be about the same. */
const MOST_PER_DAY = 50;

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
    if (!project.rules.learning?.reflection?.enabled) return;
    if (body.type === 'task.blocked' || (body.type === 'task.moved' && body.to === 'done')) {
      const task = await store.task(body.taskId);
      if (!task || (task.stage !== 'done' && task.blocked === null)) return;
      return this.#request(reflectionId(task.id, task.stageSince), await reflectionOnTask(this.#deps, task));
    }
    if (body.type === 'spec.judged' || body.type === 'spec.accepted') {
      const spec = await store.record('spec', body.subjectId);
      if (spec?.status !== 'done') return;
      return this.#request(reflectionId(spec.id, spec.number), await reflectionOnSpec(this.#deps, spec));
    }
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
