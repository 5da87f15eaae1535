import { PATTERN_AT, type Pattern, REACTORS } from '@tidemill/contract';
import { mayBeGuarded, patternId } from '@tidemill/core';
import type { ReactorCall, RoutedReactor } from '../../ports.ts';
import type { GuardTools } from '../learning/guard-flow.ts';
import { learnGuard } from '../learning/learn-guard.ts';

/** Proposes a guard when the same thing was done wrong in three runs, if the recorded calls show a rule against it. */
export class GuardLearner implements RoutedReactor {
  readonly name = 'guard-learning';
  readonly projectId: string;
  readonly on = REACTORS['guard-learning'].on;
  readonly atOnce = 100;
  readonly #tools: GuardTools;
  /** How often each pattern had happened when nothing could be derived: another look needs another case. */
  readonly #looked = new Map<string, number>();

  constructor(tools: GuardTools) {
    this.projectId = tools.project.id;
    this.#tools = tools;
  }

  async handle(call: ReactorCall): Promise<void> {
    for (const pattern of await this.#patterns(call)) {
      if (this.#looked.get(pattern.key) === pattern.count) continue;
      if ((await learnGuard(this.#tools, pattern)) === null) this.#looked.set(pattern.key, pattern.count);
    }
  }

  async #patterns(call: ReactorCall): Promise<Pattern[]> {
    const { store } = this.#tools;
    if (call.cause !== 'events') return store.records({ noun: 'pattern', projectId: this.projectId, isOpen: true });
    const keys = call.events.flatMap(({ body }) =>
      body.type === 'trace.stored' && mayBeGuarded(body.trace) ? [body.trace.key] : [],
    );
    const found = await Promise.all(
      [...new Set(keys)].map((key) => store.record('pattern', patternId(this.projectId, key))),
    );
    return found.filter((pattern) => pattern !== null && pattern.count >= PATTERN_AT) as Pattern[];
  }
}
