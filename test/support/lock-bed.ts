import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';

export const NOW = 1_800_000_000_000;

/** A folder for lock files, and a clock on which sleeping takes no time. */
export class LockBed {
  folder!: string;
  now = NOW;
  /** What happens while somebody sleeps. */
  meanwhile: () => void = () => undefined;
  readonly clock = {
    now: () => this.now,
    sleep: async (ms: number) => {
      this.now += ms;
      this.meanwhile();
    },
  };

  constructor() {
    beforeEach(() => {
      this.folder = mkdtempSync(join(tmpdir(), 'tidemill-locks-'));
      this.now = NOW;
      this.meanwhile = () => undefined;
    });
    afterEach(() => rmSync(this.folder, { recursive: true }));
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** A file that is there since so long. */
  put(name: string, text: string, sinceMs: number): void {
    writeFileSync(this.path(name), text);
    const at = (NOW - sinceMs) / 1000;
    utimesSync(this.path(name), at, at);
  }
}
