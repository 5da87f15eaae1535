import { type EventBody, type Lesson, lessonName, REACTORS } from '@tidemill/contract';
import type { ReactorCall, RoutedReactor, Trigger, TriggerFacts } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { askAbout } from '../learning/ask.ts';
import { learningFaults } from '../learning/faults.ts';
import { summarise, WEEK_MS } from '../learning/summary.ts';
import { StandingAlerts } from './standing-alerts.ts';

const HOUR_MS = 3_600_000;
/** No more questions about lessons wait for a person at once. */
const MOST_OPEN = 3;
const YES = 'Yes';
const NO = 'No';
const HERE_ONLY = 'Only in this project';
const ASKING = ['gotcha_candidate', 'pattern_detected'];

/** Asks about what was learned, follows the answers, sums up each week, and tells when learning goes wrong. */
export class MemoryWatch implements RoutedReactor {
  readonly name = 'memory';
  readonly projectId: string;
  readonly on = REACTORS.memory.on;
  readonly everyMs = HOUR_MS;
  readonly #deps: EngineDeps;
  readonly #alerts: StandingAlerts;
  /** The last week that was summed up. */
  #week: number | null = null;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.projectId = deps.project.id;
    this.#alerts = new StandingAlerts(deps, ['memory_unused', 'memory_oscillates', 'memory_generic', 'memory_graded']);
  }

  async handle(call: ReactorCall): Promise<void> {
    if (call.cause === 'start') await this.#askLeft();
    if (call.cause === 'events') for (const { body } of call.events) await this.#follow(body);
    if (call.cause !== 'events') await this.#sumUp();
    await this.#alerts.settle(await learningFaults(this.#deps.store, this.projectId, this.#deps.clock.now()));
  }

  async #follow(body: EventBody): Promise<void> {
    if (body.type === 'question.answered') return this.#answered(body);
    if (body.type === 'lesson.recorded' && body.origin.by.kind === 'agent' && body.occurrences === 1)
      return this.#askCandidate(body.lessonId, body.draft);
    if (body.type !== 'lesson.confirmed' || body.origin.by.kind !== 'agent') return;
    const lesson = await this.#deps.store.record('lesson', body.lessonId);
    if (!lesson || lesson.occurrences < 2) return;
    const tasks = [...(await this.#deps.store.taskNumbers(lesson.origin.taskIds)).values()];
    await this.#ask('pattern_detected', lesson.id, {
      pattern: lesson.text,
      count: lesson.occurrences,
      where: tasks.map((number) => `#${number}`).join(', ') || 'several tasks',
      confidence: lesson.confidence,
    });
  }

  #askCandidate(lessonId: string, lesson: Pick<Lesson, 'text' | 'why' | 'filePatterns' | 'topics'>): Promise<void> {
    const context = [...lesson.filePatterns, ...lesson.topics].join(', ') || 'everything';
    const facts = { gotcha: lesson.text, context, impact: lesson.why || 'seen once' };
    return this.#ask('gotcha_candidate', lessonId, facts);
  }

  /** Lessons of this week that an earlier daemon stopped before it asked about them. */
  async #askLeft(): Promise<void> {
    const { store, clock } = this.#deps;
    const since = clock.now() - WEEK_MS;
    const lessons = (await store.records({ noun: 'lesson', projectId: this.projectId })).filter(
      ({ origin, occurrences, stage, supersededBy, createdAt }) =>
        origin.by.kind === 'agent' &&
        occurrences === 1 &&
        stage === 'experiment' &&
        supersededBy === null &&
        createdAt > since,
    );
    if (lessons.length === 0) return;
    const asked = await store.records({ noun: 'question', parent: this.projectId });
    const known = new Set(asked.map(({ sourceId }) => sourceId));
    for (const lesson of lessons)
      if (!known.has(`gotcha_candidate/${lesson.id}`)) await this.#askCandidate(lesson.id, lesson);
  }

  async #ask<T extends Trigger>(trigger: T, about: string, facts: TriggerFacts[T]): Promise<void> {
    const open = await this.#deps.store.records({ noun: 'question', parent: this.projectId, isOpen: true });
    const isFull = open.filter(({ sourceId }) => ASKING.includes(sourceId.split('/')[0]!)).length >= MOST_OPEN;
    if (!(isFull && ASKING.includes(trigger))) await askAbout(this.#deps, trigger, about, facts);
  }

  /** Only a person's word counts. Without one, the lesson stays an experiment, and its figures decide. */
  async #answered({ questionId, answer }: Extract<EventBody, { type: 'question.answered' }>): Promise<void> {
    const { store } = this.#deps;
    const question = await store.record('question', questionId);
    const [trigger = '', lessonId = ''] = question?.sourceId.split('/') ?? [];
    if (answer.source !== 'user' || !ASKING.includes(trigger)) return;
    const lesson = await store.record('lesson', lessonId);
    if (!lesson || lesson.stage === 'retired' || lesson.supersededBy !== null) return;
    const about = { projectId: this.projectId, lessonId };
    const { by, option, text } = answer;
    if (option?.startsWith(NO))
      return this.#execute(lesson, { type: 'lesson.retire', ...about, why: `${by.name} said: ${text}`, by });
    if (option === HERE_ONLY)
      return this.#execute(lesson, { type: 'lesson.edit', ...about, change: { scope: 'project' }, by });
    const origin = { traceIds: [], taskIds: [], runId: null, by };
    if (option === YES) return this.#execute(lesson, { type: 'lesson.confirm', ...about, origin });
    if (option === null) await this.#execute(lesson, { type: 'lesson.edit', ...about, change: { text }, by });
  }

  async #execute(lesson: Lesson, command: Parameters<EngineDeps['store']['execute']>[0]): Promise<void> {
    const reply = await this.#deps.store.execute(command);
    if (!reply.ok)
      this.#deps.onNote(`the answer about lesson ${lessonName(lesson)} changed nothing: ${reply.refusal.message}`);
  }

  /** Once a week, if something was learned. */
  async #sumUp(): Promise<void> {
    const { store, clock, catalogue } = this.#deps;
    if (!catalogue) return;
    const week = Math.floor(clock.now() / WEEK_MS);
    if (this.#week === null) {
      const asked = await store.records({ noun: 'question', parent: this.projectId });
      const isAsked = asked.some(({ sourceId }) => sourceId === `weekly_summary/${week}`);
      this.#week = isAsked ? week : week - 1;
    }
    if (this.#week === week) return;
    const { patterns, gotchas, preferences, confirmed, active, top } = await summarise(
      store,
      this.projectId,
      week * WEEK_MS,
    );
    if (patterns + gotchas + preferences + confirmed > 0)
      await this.#ask('weekly_summary', String(week), { patterns, gotchas, total: active, top });
    this.#week = week;
  }
}
