import { createHash } from 'node:crypto';
import type { ConflictFile } from '@tidemill/contract';

/** Where an editor keeps things for a workspace. */
export interface Memory {
  get(key: string): unknown;
  update(key: string, value: unknown): PromiseLike<void>;
}

interface Draft {
  text: string;
  /** The sides that it merges. With other sides it is of no use. */
  of: string;
}

const PREFIX = 'tidemill.merge.';

/**
 * What was saved in a merge editor before the merge was completed. The editor may save by itself, so saving alone does not
 * resolve a file. A draft outlives the window.
 */
export class Drafts {
  readonly #memory: Memory;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  get(key: string, file: ConflictFile): string | null {
    const found = this.#memory.get(PREFIX + key) as Draft | undefined;
    return found && found.of === sidesOf(file) ? found.text : null;
  }
  async keep(key: string, file: ConflictFile, text: string): Promise<void> {
    await this.#memory.update(PREFIX + key, { text, of: sidesOf(file) } satisfies Draft);
  }
  async drop(key: string): Promise<void> {
    await this.#memory.update(PREFIX + key, undefined);
  }
}

const sidesOf = ({ base, ours, theirs }: ConflictFile): string =>
  createHash('sha256')
    .update(JSON.stringify([base, ours, theirs]))
    .digest('hex');
