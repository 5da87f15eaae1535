import { REACTORS } from '@tidemill/contract';
import type { Knowledge, OwnSessions, RoutedReactor } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { sessionKnowledge } from '../learning/session-knowledge.ts';
import { sessionWork } from '../learning/session-work.ts';

const EVERY_MS = 60_000;
const MOST_TASKS = 200;
const PAGE = 1_000;
/** Claims name new evidence. */
const MOST_PROVEN = 2_000;
const LEAST_CONFIDENCE = 0.6;

type Deps = Pick<EngineDeps, 'store' | 'project'>;

/** Keeps what the hooks of a person's own sessions need: a hook has no time to ask the daemon. */
export class OwnSessionWatch implements RoutedReactor {
  readonly name = 'own-sessions';
  readonly projectId: string;
  readonly on = REACTORS['own-sessions'].on;
  readonly everyMs = EVERY_MS;
  readonly atOnce = 100;
  readonly #deps: Deps;
  readonly #knowledge: Pick<Knowledge, 'all'>;
  readonly #sessions: OwnSessions;
  #proven: string[] = [];
  #position = 0;

  constructor(deps: Deps, knowledge: Pick<Knowledge, 'all'>, sessions: OwnSessions) {
    this.#deps = deps;
    this.projectId = deps.project.id;
    this.#knowledge = knowledge;
    this.#sessions = sessions;
  }

  async handle(): Promise<void> {
    await this.#tellProven();
    const known = sessionKnowledge([...(await this.#lessons()), ...(await this.#knowledge.all())]);
    await this.#sessions.tell([await this.#openWork(), known].filter((text) => text !== '').join('\n'));
  }

  async #openWork(): Promise<string> {
    const { store, project } = this.#deps;
    const own = Object.values(project.rules.pipelines).flatMap((pipeline) => Object.keys(pipeline.stages));
    const stages = [...new Set(['open', 'needs_info', 'blocked', ...own])];
    const tasks = await store.tasks({ projectId: project.id, stages, newestFirst: true, limit: MOST_TASKS });
    const questions = await store.records({ noun: 'question', projectId: project.id, isOpen: true });
    return sessionWork({ questions, tasks });
  }

  /** Evidence is only added, so each link is read once. */
  async #tellProven(): Promise<void> {
    const { store, project } = this.#deps;
    for (;;) {
      const links = await store.evidence({ projectId: project.id, afterPosition: this.#position, limit: PAGE });
      const passed = links.filter(({ status }) => status === 'pass').map(({ hash }) => hash);
      this.#proven = [...this.#proven, ...passed].slice(-MOST_PROVEN);
      this.#position = links.at(-1)?.position ?? this.#position;
      if (links.length < PAGE) break;
    }
    await this.#sessions.prove(this.#proven);
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
