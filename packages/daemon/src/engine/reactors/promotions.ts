import { ENGINE, isActiveLesson, type Lesson, lessonName, REACTORS, type Replay, replayRef } from '@tidemill/contract';
import { LEAST_HELD_OUT, trialOf } from '@tidemill/core';
import type { Reactor, ReactorCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { askForPromotion, promoteIfAgreed } from '../learning/ask-promotion.ts';
import { demoteIfUseless } from '../learning/instructions.ts';
import { heldOut, lessonVariants } from '../replay/lesson-trial.ts';
import { recordedTasks } from '../replay/recorded.ts';

const EVERY_MS = 3_600_000;
const DAY_MS = 24 * 3_600_000;
const MOST_TASKS = 20;
const LOOKED_THROUGH = 500;
/** A lesson that showed nothing is tried again when so many more tasks were recorded. */
const MORE_TASKS = 5;

/**
 * Decides by paired replays whether lessons go to production.
 *
 *   validated ──enough held-out tasks, money left──▶ replay: without, with, placebo ──┬─ gain ──▶ production
 *                                                                                    ├─ harm ──▶ retired
 *                                                                                    └─ unclear: stays, and why is noted
 * A person is asked whether one in production belongs in the file of instructions; a yes makes a task. It is taken out again, by a task, when it is no longer in production.
 */
export class PromotionWatch implements Reactor {
  readonly name = 'promotions';
  readonly projectId: string;
  readonly on = REACTORS.promotions.on;
  readonly everyMs = EVERY_MS;
  readonly #deps: EngineDeps;
  readonly #noted = new Set<string>();

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.projectId = deps.project.id;
  }

  async handle(call: ReactorCall): Promise<void> {
    const { store } = this.#deps;
    const replays = await store.records({ noun: 'replay', projectId: this.projectId });
    if (call.cause === 'events') {
      const ended = new Set(call.events.flatMap(({ body }) => (body.type === 'replay.ended' ? [body.replayId] : [])));
      for (const replay of replays.filter(({ id }) => ended.has(id))) await this.#decide(replay);
      for (const { body } of call.events)
        if (body.type === 'question.answered') await promoteIfAgreed(this.#deps, body);
    } else if (call.cause === 'start') {
      const after = this.#deps.clock.now() - DAY_MS;
      for (const replay of replays.filter(({ endedAt }) => (endedAt ?? 0) > after)) await this.#decide(replay);
    }
    const lessons = await store.records({ noun: 'lesson', projectId: this.projectId });
    for (const lesson of lessons) await demoteIfUseless(this.#deps, lesson);
    const active = (await store.records({ noun: 'lesson', projectId: this.projectId })).filter(isActiveLesson);
    await askForPromotion(this.#deps, active);
    await this.#tryNext(active, replays);
  }

  /** Twice is harmless: a replay decides about a lesson only once, and only about the text that it tried. */
  async #decide(replay: Replay): Promise<void> {
    const { store, onNote } = this.#deps;
    const { purpose, variants, status } = replay;
    if (purpose.kind !== 'lesson' || purpose.id === null || (status !== 'done' && status !== 'stopped')) return;
    const lesson = await store.record('lesson', purpose.id);
    const tried = variants[1]?.lessons[0];
    if (!lesson || !isActiveLesson(lesson) || lesson.version !== tried?.version || lesson.replayId === replay.id)
      return;
    const trial = trialOf(replay);
    const name = `${lessonName(lesson)} (${replayRef(replay.number)})`;
    if (!trial) return onNote(`${name} has no figures: its runs did not count`);
    const about = { projectId: this.projectId, lessonId: lesson.id, by: ENGINE };
    const why = `${replayRef(replay.number)}: ${trial.why}`;
    if (trial.verdict === 'unclear') return onNote(`${name} stays ${lesson.stage}: ${trial.why}`);
    const reply =
      trial.verdict === 'gain'
        ? await store.execute({ type: 'lesson.advance', ...about, to: 'production', why, proof: trial.proof })
        : await store.execute({ type: 'lesson.retire', ...about, why });
    if (!reply.ok) onNote(`${name}: ${reply.refusal.message}`);
  }

  /** One at a time: a replay is expensive, and the next lesson can wait. */
  async #tryNext(lessons: readonly Lesson[], replays: readonly Replay[]): Promise<void> {
    const { project, store, ids, onNote } = this.#deps;
    const settings = project.rules.learning?.promotion;
    if (!settings?.enabled || replays.some(({ purpose, endedAt }) => purpose.kind === 'lesson' && endedAt === null))
      return;
    const limitUsd = settings.budgetUsdPerDay - this.#spentToday(replays);
    const waiting = lessons.filter(({ stage }) => stage === 'validated').sort((a, b) => b.confidence - a.confidence);
    if (waiting.length === 0) return;
    if (limitUsd <= 0) return this.#noteOnce('no lesson is tried today: the budget of replays is spent');
    const { workspace } = this.#deps;
    const recorded = await recordedTasks({ projectId: this.projectId, store, workspace }, { limit: LOOKED_THROUGH });
    for (const lesson of waiting) {
      const tasks = heldOut(lesson, recorded).slice(0, MOST_TASKS);
      const name = lessonName(lesson);
      if (tasks.length < LEAST_HELD_OUT) {
        this.#noteOnce(
          `${name} stays ${lesson.stage}: it fits ${tasks.length} recorded tasks that it was not learned from`,
        );
        continue;
      }
      const before = lastTrial(lesson, replays);
      if (before && tasks.length < before.tasks.length + MORE_TASKS) continue;
      const replay = {
        purpose: { kind: 'lesson' as const, id: lesson.id },
        variants: lessonVariants(lesson, null),
        tasks,
        repeats: settings.repeats,
        withLandedTests: false,
        limitUsd,
      };
      const start = { type: 'replay.start', projectId: this.projectId, replayId: ids.next('replay'), replay } as const;
      const reply = await store.execute({ ...start, by: ENGINE });
      if (!reply.ok) onNote(`${name} could not be tried: ${reply.refusal.message}`);
      return;
    }
  }

  /** What Tidemill itself started within 24 hours. */
  #spentToday(replays: readonly Replay[]): number {
    const after = this.#deps.clock.now() - DAY_MS;
    return replays
      .filter(({ purpose, createdAt, by }) => purpose.kind !== 'bench' && by.kind === 'engine' && createdAt > after)
      .reduce((sum, { spentUsd }) => sum + spentUsd, 0);
  }

  #noteOnce(text: string): void {
    if (this.#noted.has(text)) return;
    this.#noted.add(text);
    this.#deps.onNote(text);
  }
}

/** The last replay of the lesson as it is now. */
const lastTrial = (lesson: Lesson, replays: readonly Replay[]): Replay | undefined =>
  replays
    .filter(({ purpose, variants }) => purpose.id === lesson.id && variants[1]?.lessons[0]?.version === lesson.version)
    .sort((a, b) => b.number - a.number)[0];
