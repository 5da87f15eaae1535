import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { marked, readDocuments } from './documents.ts';

const run = promisify(execFile);

/** A person's shell with a fresh home. `checkout` is the folder in which they begin. */
export class TourShell {
  readonly #home: string;
  readonly #checkout: string;
  private constructor(home: string, checkout: string) {
    this.#home = home;
    this.#checkout = checkout;
  }

  static async open(checkout: string): Promise<TourShell> {
    return new TourShell(await mkdtemp(join(tmpdir(), 'tidemill-readme-')), checkout);
  }
  /** In a folder that has the installed program where a checkout has it: it starts three times as fast. */
  static async openInstalled(launcher: string): Promise<TourShell> {
    const home = await mkdtemp(join(tmpdir(), 'tidemill-readme-'));
    const checkout = join(home, 'checkout');
    await mkdir(join(checkout, 'bin'), { recursive: true });
    await symlink(launcher, join(checkout, 'bin', 'tidemill'));
    return new TourShell(home, checkout);
  }
  close = () => rm(this.#home, { recursive: true, force: true });

  async sh(script: string, timeout: number): Promise<string> {
    const identity = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@example.org', GIT_COMMITTER_NAME: 'A' };
    const env = { PATH: process.env.PATH, HOME: this.#home, ...identity, GIT_COMMITTER_EMAIL: 'a@example.org' };
    return (await run('sh', ['-euc', script], { cwd: this.#checkout, env, timeout })).stdout;
  }

  /** The README's tour works as described. */
  async expectTour(): Promise<void> {
    const tour = marked(readDocuments().get('README.md')!, 'tour');
    expect(tour.length).toBeGreaterThan(3);
    const stdout = await this.sh(tour.join('\n'), 150_000);
    expect(stdout).toContain('hello ann');
    expect(stdout).toContain('hello bob');
    expect(stdout).toContain('Who should I greet?');
    expect(stdout).toContain('hello carla');
    expect(stdout.match(/Evidence: [0-9a-f]{64}/g)?.length).toBeGreaterThanOrEqual(2);
  }
}
