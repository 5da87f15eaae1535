import type { Api } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import type { Browser } from 'playwright-core';
import { test } from 'vitest';
import { TemporaryRepository } from '../e2e/cli-repository.ts';
import { hasBrowser, launchBrowser } from './browser.ts';
import { type RunningDaemon, TidemillHome } from './tidemill-home.ts';

/** A browser and the real daemon, which works on a repository of each bed that uses it. */
export class PageHost {
  readonly machine: TidemillHome;
  readonly browser: Browser;
  daemon!: RunningDaemon;
  api!: Api;
  readonly #isLent: boolean;
  #isUp = false;
  readonly #repositories: TemporaryRepository[] = [];

  private constructor(machine: TidemillHome, browser: Browser, isLent: boolean) {
    this.machine = machine;
    this.browser = browser;
    this.#isLent = isLent;
  }

  /** With its own daemon, and with this browser or its own. */
  static async open(lent?: Browser): Promise<PageHost> {
    const machine = new TidemillHome({ USER: 'ada' });
    return new PageHost(machine, lent ?? (await launchBrowser(machine.env)), lent !== undefined);
  }

  /** Removed at the end: the daemon complains about a repository that is gone. */
  newRepository(): TemporaryRepository {
    const repository = new TemporaryRepository();
    this.#repositories.push(repository);
    return repository;
  }

  /** Like `tidemill up` there. Returns the project. */
  async attach(root: string): Promise<string> {
    if (this.#isUp) return (await this.api.attachProject({ root })).project.id;
    await this.up(root);
    const [project] = await this.api.projects({ root });
    // What all files spend together must stop none of them.
    if (!this.#isLent) await this.api.limitBudget({ project: project!.id, dailyUsd: 10_000, monthlyUsd: 100_000 });
    return project!.id;
  }

  /** On the same port as before. */
  async up(root: string): Promise<void> {
    const more = this.daemon ? ['--port', new URL(this.daemon.url).port] : [];
    const daemon = await this.machine.up(root, ...more);
    void daemon.ended.then(() => {
      if (this.daemon === daemon) this.#isUp = false;
    });
    this.daemon = daemon;
    this.#isUp = true;
    this.api = createClient({ url: daemon.url, token: new URL(daemon.link).searchParams.get('token')! });
  }

  async kill(): Promise<void> {
    this.daemon.child.kill('SIGKILL');
    await this.daemon.ended;
  }

  /** A daemon leaves no project before its end, so this one only becomes quiet. */
  async leave(project: string): Promise<void> {
    if (this.#isUp) await this.api.steerWorkers({ project, worker: 'all', operation: 'stop' });
  }

  async close(): Promise<void> {
    if (!this.#isLent) await this.browser.close();
    await this.machine.close();
    for (const repository of this.#repositories) repository.remove();
  }
}

/** All test files of a worker share one; it ends with the worker. Null without a browser. */
export const worker = test
  .extend('hasBrowser', { scope: 'worker' }, hasBrowser)
  .extend('pageHost', { scope: 'worker' }, async ({ hasBrowser: canOpen }, { onCleanup }) => {
    if (!canOpen) return null;
    const host = await PageHost.open();
    onCleanup(() => host.close());
    return host;
  });
