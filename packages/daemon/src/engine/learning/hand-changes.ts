import { personActor, type Trace, TraceDraft } from '@tidemill/contract';
import type { PersonCommit, Rewrite } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

/** A landed change that a person changes later than this was not wrong; the project moved on. */
const DAYS = 7;
const WINDOW_MS = DAYS * 24 * 3_600_000;
/** The newest landings whose lines are looked for. */
const MOST_LANDED = 50;
/** Fewer replaced lines are ordinary work on the same file. */
const LEAST_LINES = 3;

type NewTrace = Omit<Trace, 'noun' | 'projectId'>;
interface Landing {
  taskId: string;
  number: number | null;
  commit: string;
  at: number;
}

/** Finds what people reverted or rewrote by hand of work that landed in the last days. */
export class HandChanges {
  readonly #deps: EngineDeps;
  readonly #seen = new Set<string>();
  #target = '';

  constructor(deps: EngineDeps) {
    this.#deps = deps;
  }

  /** The corrections since the last look. The first look repeats earlier ones: a trace has the same id then. */
  async look(): Promise<NewTrace[]> {
    const { workspace, clock } = this.#deps;
    const target = await workspace.targetCommit();
    if (target === this.#target) return [];
    const since = clock.now() - WINDOW_MS;
    const landings = await this.#landings(since);
    const landed = landings.map(({ commit }) => commit);
    const commits = landed.length === 0 ? [] : await workspace.commitsByPeople({ since, landed, seen: this.#seen });
    const found: NewTrace[] = [];
    for (const commit of commits) found.push(...(await this.#corrections(commit, landings)));
    for (const { commit } of commits) this.#seen.add(commit);
    this.#target = target;
    return found;
  }

  async #landings(since: number): Promise<Landing[]> {
    const { store, project } = this.#deps;
    const query = { projectId: project.id, types: ['merge.landed'], newestFirst: true, limit: MOST_LANDED };
    const recent = (await store.events(query)).flatMap(({ at, body }) =>
      body.type === 'merge.landed' && at >= since ? [{ taskId: body.taskId, commit: body.commit, at }] : [],
    );
    const numbers = await store.taskNumbers(recent.map(({ taskId }) => taskId));
    return recent.map((landing) => ({ ...landing, number: numbers.get(landing.taskId) ?? null }));
  }

  async #corrections(made: PersonCommit, landings: readonly Landing[]): Promise<NewTrace[]> {
    const found: NewTrace[] = [];
    for (const landing of landings) {
      const isRevert = made.reverts.some((hash) => landing.commit.startsWith(hash));
      const rewrite = made.rewrites.find(({ landed }) => landed === landing.commit);
      if (isRevert) found.push(await this.#reverted(made, landing));
      else if (rewrite && rewrite.lines >= LEAST_LINES) found.push(this.#rewritten(made, landing, rewrite));
    }
    return found;
  }

  async #reverted(made: PersonCommit, landing: Landing): Promise<NewTrace> {
    const files = await this.#deps.workspace.filesIn(landing.commit, 'parent');
    const what = `${made.author} reverted the landed change of #${landing.number}: ${made.subject}`;
    return this.#trace(made, landing, { verb: 'reverted', files, what, why: made.body || null, correct: null });
  }

  #rewritten(made: PersonCommit, landing: Landing, { files, lines, patch }: Rewrite): NewTrace {
    const what = `${made.author} replaced ${lines} lines of the landed change of #${landing.number}: ${made.subject}`;
    return this.#trace(made, landing, { verb: 'rewritten', files, what, why: made.body || null, correct: patch });
  }

  #trace(
    made: PersonCommit,
    { taskId, number }: Landing,
    { verb, ...said }: { verb: string } & Pick<Trace, 'files' | 'what' | 'why' | 'correct'>,
  ): NewTrace {
    const draft = TraceDraft.parse({
      ...{ type: 'correction', source: 'git', key: `${verb}:${said.files[0] ?? ''}`, subjectId: taskId },
      ...{ taskNumber: number, ...said },
    });
    // One commit may correct several tasks.
    const id = `trace_${made.at.toString(36).padStart(9, '0')}${made.commit.slice(0, 12)}_${number}`;
    return { ...draft, id, at: made.at, seq: null, by: personActor(made.author || 'somebody') };
  }
}
