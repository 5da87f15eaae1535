import { PATTERN_AT, type Pattern, REACTORS } from '@tidemill/contract';
import { mayBeLesson, patternId } from '@tidemill/core';
import type { ReactorCall, RoutedReactor } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { learnLesson } from '../learning/learn-lesson.ts';

/** What happened longer ago than this is not looked at again after a start. */
const LATELY_MS = 24 * 3_600_000;

/** Drafts a lesson when the same failure, correction or refusal happened three times. No model is asked. */
export class LessonDrafter implements RoutedReactor {
  readonly name = 'lesson-drafts';
  readonly projectId: string;
  readonly on = REACTORS['lesson-drafts'].on;
  readonly atOnce = 100;
  readonly #deps: EngineDeps;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.projectId = deps.project.id;
  }

  async handle(call: ReactorCall): Promise<void> {
    if (this.#deps.project.rules.learning?.enabled === false) return;
    for (const pattern of await this.#patterns(call)) await learnLesson(this.#deps, pattern);
  }

  async #patterns(call: ReactorCall): Promise<Pattern[]> {
    const { store, clock } = this.#deps;
    const { projectId } = this;
    if (call.cause !== 'events') {
      const open = await store.records({ noun: 'pattern', projectId, isOpen: true });
      return open.filter(({ lastAt }) => lastAt > clock.now() - LATELY_MS);
    }
    const keys = call.events.flatMap(({ body }) =>
      body.type === 'trace.stored' && mayBeLesson(body.trace) ? [body.trace.key] : [],
    );
    const found = await Promise.all(
      [...new Set(keys)].map((key) => store.record('pattern', patternId(projectId, key))),
    );
    return found.filter((pattern) => pattern !== null && pattern.count >= PATTERN_AT) as Pattern[];
  }
}
