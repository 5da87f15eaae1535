import { REACTORS } from '@tidemill/contract';
import type { Knowledge, OwnSessions, RoutedReactor } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { sessionKnowledge } from '../learning/session-knowledge.ts';

const EVERY_MS = 60_000;
const LEAST_CONFIDENCE = 0.6;

/** Keeps what the hooks of a person's own sessions need: a hook has no time to ask the daemon. */
export class OwnSessionWatch implements RoutedReactor {
  readonly name = 'own-sessions';
  readonly projectId: string;
  readonly on = REACTORS['own-sessions'].on;
  readonly everyMs = EVERY_MS;
  readonly #deps: EngineDeps;
  readonly #knowledge: Knowledge;
  readonly #sessions: OwnSessions;

  constructor(deps: EngineDeps, knowledge: Knowledge, sessions: OwnSessions) {
    this.#deps = deps;
    this.projectId = deps.project.id;
    this.#knowledge = knowledge;
    this.#sessions = sessions;
  }

  async handle(): Promise<void> {
    await this.#sessions.tell(sessionKnowledge([...(await this.#lessons()), ...(await this.#knowledge.all())]));
  }

  /** Lessons in use, of this project and for all. A session has no files yet, so none is chosen by them. */
  async #lessons() {
    const { store, project } = this.#deps;
    if (project.rules.learning?.enabled === false) return [];
    const all = await store.records({ noun: 'lesson', isOpen: true });
    return all
      .filter(({ projectId, scope }) => projectId === project.id || scope === 'all')
      .filter(({ confidence, supersededBy }) => confidence >= LEAST_CONFIDENCE && supersededBy === null)
      .map(({ text, filePatterns, confidence }) => ({ text, files: filePatterns.join(', '), confidence }));
  }
}
