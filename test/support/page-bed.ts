import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api, NewTask, TaskDetail } from '@tidemill/contract';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeEach } from 'vitest';
import type { TemporaryRepository } from '../e2e/cli-repository.ts';
import { hasBrowser, NO_BROWSER, PATIENCE_MS, picture } from './browser.ts';
import { PageHost, worker } from './page-host.ts';
import type { RunningDaemon, TidemillHome } from './tidemill-home.ts';

interface Scene {
  /** Lines of `.tidemill/config.yaml` beside the agent, which plays the scenario. A function is called when it is written. */
  config: string | (() => string);
  /** The scenario's YAML; `{door NAME}` in a command waits until the test opens that door. */
  scenario: string;
  /** What the repository holds besides. */
  files?: Record<string, string>;
  /** With a daemon of its own, for what concerns all projects of a daemon, or how the page looks with only one. */
  isAlone?: boolean;
}

const AGENT = `untested: true
agents:
  default: { type: scripted, script: .tidemill/scenario.yaml }
`;

/** A real repository with scripted agents, and its page in a real browser. */
export class PageBed {
  readonly complaints: string[] = [];
  readonly requested: string[] = [];
  repository!: TemporaryRepository;
  project = '';
  context!: BrowserContext;
  page!: Page;
  #host!: PageHost;
  #isAlone = false;
  /** In the repository's own folder: a sandbox shows it, and git does not. */
  #doors!: string;

  /** With everything of its own. */
  static async open(scene: Scene): Promise<PageBed> {
    const bed = new PageBed();
    bed.#isAlone = true;
    await bed.start(scene, await PageHost.open());
    return bed;
  }

  async start({ config, scenario, files = {}, isAlone = false }: Scene, shared: PageHost): Promise<void> {
    this.#host = isAlone ? await PageHost.open(shared.browser) : shared;
    this.#isAlone ||= isAlone;
    this.repository = this.#host.newRepository();
    const { repository } = this;
    this.#doors = join(repository.root, '.doors');
    mkdirSync(this.#doors);
    appendFileSync(join(repository.root, '.git', 'info', 'exclude'), '.doors\n');
    const waiting = (_: string, name: string) => `until [ -e '${join(this.#doors, name)}' ]; do sleep 0.1; done`;
    repository.write({
      ...files,
      '.tidemill/config.yaml': `target: main\nreadable: [.doors]\n${AGENT}${typeof config === 'string' ? config : config()}`,
      '.tidemill/scenario.yaml': scenario.replace(/\{door ([a-z]+)\}/g, waiting),
    });
    repository.git('add', '-A');
    repository.git('commit', '-q', '-m', 'Settings');
    this.project = await this.#host.attach(repository.root);
    this.context = await this.newContext({ reducedMotion: 'reduce' });
    this.page = await this.context.newPage();
    this.page.on('console', (message) => message.type() === 'error' && this.complaints.push(message.text()));
    this.page.on('pageerror', (error) => this.complaints.push(error.message));
    this.page.on('request', (request) => this.requested.push(request.url()));
    await this.page.goto(this.link);
    await this.page.getByText('live', { exact: true }).waitFor();
  }

  get machine(): TidemillHome {
    return this.#host.machine;
  }
  get browser(): Browser {
    return this.#host.browser;
  }
  get daemon(): RunningDaemon {
    return this.#host.daemon;
  }
  get api(): Api {
    return this.#host.api;
  }
  /** Opens the page on this project; the daemon may have more. */
  get link(): string {
    const link = new URL(this.daemon.link);
    if (!this.#isAlone) link.searchParams.set('to', this.address('/'));
    return link.href;
  }

  /** A path with its project. */
  address(path: string): string {
    const url = new URL(path, this.daemon.url);
    if (!this.#isAlone && !url.searchParams.has('project')) url.searchParams.set('project', this.project);
    return url.pathname + url.search + url.hash;
  }

  /** Another person's browser. */
  async newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    context.setDefaultTimeout(PATIENCE_MS);
    return context;
  }

  /** A page whose time the test passes on with `clock.fastForward`. Close its context. */
  async timedPage(): Promise<Page> {
    const context = await this.newContext();
    await context.clock.install();
    return context.newPage();
  }

  /** From an empty page, as a person does who opens a bookmark. */
  async load(path: string, page = this.page): Promise<void> {
    await page.goto(new URL(this.address(path), this.daemon.url).href);
  }

  /** Without loading the page again, as a link inside it does. */
  async visit(path: string, page = this.page): Promise<void> {
    await page.evaluate(`history.pushState(null, '', ${JSON.stringify(this.address(path))})`);
  }

  /** Without loading the page again: by its tab, like a person. */
  async show(tab: string): Promise<void> {
    await this.page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: tab }).click();
  }

  picture(name: string, isWhole = false): Promise<void> {
    return picture(this.page, name, isWhole);
  }

  async add(title: string, more: Partial<NewTask> = {}): Promise<number> {
    return (await this.api.addTask({ project: this.project, title, ...more })).number;
  }

  /** Waits for the store, not for the page, because the page is what is tested. */
  async when(task: number, isSo: (detail: TaskDetail) => boolean): Promise<void> {
    const { api, project } = this;
    const look = async () => isSo(await api.task({ project, task }));
    if (await look()) return;
    const over = new AbortController();
    for await (const _ of api.events({ project, follow: true }, over.signal)) if (await look()) break;
    over.abort();
  }

  /** Waits until the task is in this stage. */
  until(task: number, stage: string): Promise<void> {
    return this.when(task, (detail) => detail.task.stage === stage);
  }

  openDoor(name: string): void {
    writeFileSync(join(this.#doors, name), '');
  }

  /** Kills the daemon. */
  kill(): Promise<void> {
    return this.#host.kill();
  }
  /** Starts it again on the same address and data. */
  revive(): Promise<void> {
    return this.#host.up(this.repository.root);
  }

  async close(): Promise<void> {
    await this.context?.close();
    if (this.#isAlone) await this.#host?.close();
    else if (this.project) await this.#host.leave(this.project);
  }
}

/** The bed of a test file, which is skipped without a browser. `ready` is called before the first test. */
export function usePages(scene: Scene, ready: () => unknown = () => undefined): PageBed {
  const bed = new PageBed();
  worker.beforeAll(async ({ pageHost }) => {
    if (!pageHost) return;
    await bed.start(scene, pageHost);
    await ready();
  }, 4 * PATIENCE_MS);
  beforeEach(({ skip }) => skip(!hasBrowser, NO_BROWSER));
  afterAll(() => bed.close(), PATIENCE_MS);
  return bed;
}
