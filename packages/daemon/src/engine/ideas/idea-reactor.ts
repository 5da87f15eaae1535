import { type Idea, type LoggedEvent, REACTORS } from '@tidemill/contract';
import type { OwnWrites, Reactor, ReactorCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

type Name = 'idea-questions' | 'idea-research';

/** Follows ideas: each open one at the start, for what was said while nothing ran, and then the events. */
export abstract class IdeaReactor implements Reactor {
  abstract readonly name: Name;
  readonly projectId: string;
  readonly on: Reactor['on'];
  readonly own: OwnWrites;
  protected readonly deps: EngineDeps;

  constructor(deps: EngineDeps, name: Name) {
    this.deps = deps;
    this.projectId = deps.project.id;
    this.on = REACTORS[name].on;
    this.own = deps.reactors.watchWrites(deps.store, this.on);
  }

  async handle(call: ReactorCall): Promise<void> {
    if (call.cause === 'start')
      for (const idea of await this.deps.store.records({ noun: 'idea', projectId: this.projectId, isOpen: true }))
        await this.considerIdea(idea);
    if (call.cause === 'events') for (const event of call.events) await this.considerEvent(event);
  }

  protected abstract considerIdea(idea: Idea): Promise<void>;
  protected abstract considerEvent(event: LoggedEvent): Promise<void>;
}
