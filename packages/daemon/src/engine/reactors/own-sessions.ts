import { REACTORS } from '@tidemill/contract';
import type { Knowledge, OwnSessions, RoutedReactor } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { sessionKnowledge } from '../learning/session-knowledge.ts';

const EVERY_MS = 60_000;

/** Keeps what the hooks of a person's own sessions need: a hook has no time to ask the daemon. */
export class OwnSessionWatch implements RoutedReactor {
  readonly name = 'own-sessions';
  readonly projectId: string;
  readonly on = REACTORS['own-sessions'].on;
  readonly everyMs = EVERY_MS;
  readonly #knowledge: Knowledge;
  readonly #sessions: OwnSessions;

  constructor(deps: EngineDeps, knowledge: Knowledge, sessions: OwnSessions) {
    this.projectId = deps.project.id;
    this.#knowledge = knowledge;
    this.#sessions = sessions;
  }

  async handle(): Promise<void> {
    await this.#sessions.tell(sessionKnowledge(await this.#knowledge.all()));
  }
}
