import { REACTORS } from '@tidemill/contract';
import { ideaFiles } from '@tidemill/core';
import type { Ideation, Reactor, ReactorCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

const FOLLOWED = REACTORS['idea-files'].on;
/** Files that could not be kept are tried again after this time. */
const AGAIN_MS = 60_000;

/** Keeps the files of ideas as the ideas are. */
export class IdeaFileKeeper implements Reactor {
  readonly name = 'idea-files';
  readonly projectId: string;
  readonly on = FOLLOWED;
  readonly atOnce = 100;
  readonly #deps: EngineDeps;
  /** Ideas whose files could not be kept, and why. */
  readonly #left = new Map<string, string>();

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.projectId = deps.project.id;
  }

  async handle(call: ReactorCall): Promise<void> {
    const { ideation, store } = this.#deps;
    if (!ideation) return;
    if (call.cause === 'start')
      for (const { id } of await store.records({ noun: 'idea', projectId: this.projectId })) this.#left.set(id, '');
    const changed =
      call.cause === 'events' ? call.events.flatMap(({ body }) => ('ideaId' in body ? body.ideaId : [])) : [];
    for (const id of new Set([...changed, ...this.#left.keys()])) await this.#keep(ideation, id);
    if (this.#left.size > 0) call.tickIn(AGAIN_MS);
  }

  async #keep(ideation: Ideation, ideaId: string): Promise<void> {
    const { store, onNote } = this.#deps;
    const idea = await store.record('idea', ideaId);
    // Nothing is settled yet.
    if (!idea || (idea.artifacts.length === 0 && idea.decisions.length === 0 && idea.risks.length === 0))
      return void this.#left.delete(ideaId);
    const kept = await ideation.keep(idea, ideaFiles(idea));
    if (kept.kind !== 'left') return void this.#left.delete(ideaId);
    if (this.#left.get(ideaId) !== kept.why) onNote(`the files of idea I${idea.number} are not kept: ${kept.why}`);
    this.#left.set(ideaId, kept.why);
  }
}
