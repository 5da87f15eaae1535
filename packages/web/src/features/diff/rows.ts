import type { DiffFile } from './parse.ts';

export type DiffRow =
  | { kind: 'head'; file: number }
  | { kind: 'line'; file: number; line: number }
  | { kind: 'more'; file: number };

/** Finds a row by its index without building a list, because a diff may have a million rows. */
export class DiffRows {
  readonly #starts: number[] = [];
  readonly count: number;
  readonly #files: readonly DiffFile[];
  readonly #limits: number[];

  /** `limits`: how many lines of each file are open. */
  constructor(files: readonly DiffFile[], limits: number[]) {
    let at = 0;
    for (const [index, file] of files.entries()) {
      this.#starts.push(at);
      const limit = limits[index] ?? 0;
      const shown = Math.min(limit, file.lines.length);
      const hasMore = limit > 0 && (shown < file.lines.length || file.more > 0);
      at += 1 + shown + (hasMore ? 1 : 0);
    }
    this.count = at;
    this.#files = files;
    this.#limits = limits;
  }

  startOf(file: number): number {
    return this.#starts[file] ?? 0;
  }

  at(index: number): DiffRow {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#starts[middle]! <= index) low = middle;
      else high = middle - 1;
    }
    const line = index - this.#starts[low]! - 1;
    if (line < 0) return { kind: 'head', file: low };
    const shown = Math.min(this.#limits[low] ?? 0, this.#files[low]!.lines.length);
    return line < shown ? { kind: 'line', file: low, line } : { kind: 'more', file: low };
  }
}
