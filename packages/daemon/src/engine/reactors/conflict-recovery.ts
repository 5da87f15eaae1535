import type { ConflictEditor, Reactor, ReactorCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { finishSettling } from '../flows/conflict.ts';

const EVERY_MS = 60_000;

/** Completes settlements that were interrupted by a crash or an unavailable store. */
export class ConflictRecovery implements Reactor {
  readonly name = 'conflict-recovery';
  readonly projectId: string;
  readonly everyMs = EVERY_MS;
  readonly #deps: EngineDeps;
  readonly #conflicts: ConflictEditor;

  constructor(deps: EngineDeps, conflicts: ConflictEditor) {
    this.#deps = deps;
    this.#conflicts = conflicts;
    this.projectId = deps.project.id;
  }

  async handle({ cause }: ReactorCall): Promise<void> {
    const { store, project, clock } = this.#deps;
    const now = clock.now();
    const deps = { store, project, conflicts: this.#conflicts };
    // A request may still be working on it, so it gets some time first.
    await finishSettling(deps, ({ settling }) => cause === 'start' || now - settling!.at >= EVERY_MS);
  }
}
