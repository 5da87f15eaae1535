import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api, NewTask, TaskDetail } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { TemporaryRepository } from '../e2e/cli-repository.ts';
import { launchBrowser, PATIENCE_MS } from './browser.ts';
import { type RunningDaemon, TidemillHome } from './tidemill-home.ts';

interface Scene {
  /** Lines of `.tidemill/config.yaml` beside the agent, which plays the scenario. */
  config: string;
  /** The scenario's YAML; `{door NAME}` in a command waits until the test opens that door. */
  scenario: string;
  /** What the repository holds besides. */
  files?: Record<string, string>;
}

const AGENT = `agents:
  default: { type: scripted, script: .tidemill/scenario.yaml }
`;

/** The real daemon on a real repository, with scripted agents, and a real browser. */
export class PageBed {
  readonly machine = new TidemillHome({ USER: 'ada' });
  readonly repository = new TemporaryRepository();
  readonly complaints: string[] = [];
  readonly requested: string[] = [];
  daemon!: RunningDaemon;
  api!: Api;
  project = '';
  browser!: Browser;
  context!: BrowserContext;
  page!: Page;
  /** In the repository's own folder, where a sandboxed agent can see it. */
  /** A sandbox shows it, and git does not. */
  readonly #doors = join(this.repository.root, '.doors');

  static async open(scene: Scene): Promise<PageBed> {
    const bed = new PageBed();
    await bed.#start(scene);
    return bed;
  }

  async #start({ config, scenario, files = {} }: Scene): Promise<void> {
    const { repository, machine } = this;
    mkdirSync(this.#doors);
    appendFileSync(join(this.repository.root, '.git', 'info', 'exclude'), '.doors\n');
    const waiting = (_: string, name: string) => `until [ -e '${join(this.#doors, name)}' ]; do sleep 0.1; done`;
    repository.write({
      ...files,
      '.tidemill/config.yaml': `target: main\n${AGENT}${config}`,
      '.tidemill/scenario.yaml': scenario.replace(/\{door ([a-z]+)\}/g, waiting),
    });
    repository.git('add', '-A');
    repository.git('commit', '-q', '-m', 'Settings');
    this.daemon = await machine.up(repository.root);
    this.#connect();
    this.project = (await this.api.projects({}))[0]!.id;
    this.browser = await launchBrowser(machine.env);
    this.context = await this.browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
    this.context.setDefaultTimeout(PATIENCE_MS);
    this.page = await this.context.newPage();
    this.page.on('console', (message) => message.type() === 'error' && this.complaints.push(message.text()));
    this.page.on('pageerror', (error) => this.complaints.push(error.message));
    this.page.on('request', (request) => this.requested.push(request.url()));
    await this.page.goto(this.daemon.link);
    await this.page.getByText('live', { exact: true }).waitFor();
  }

  #connect(): void {
    const token = new URL(this.daemon.link).searchParams.get('token')!;
    this.api = createClient({ url: this.daemon.url, token });
  }

  async visit(path: string, page = this.page): Promise<void> {
    await page.goto(new URL(path, this.daemon.url).href);
  }

  /** Without reloading the page: by its tab, like a person. */
  async show(tab: string): Promise<void> {
    await this.page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: tab }).click();
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

  openDoor(name: string): void {
    writeFileSync(join(this.#doors, name), '');
  }

  /** Killed, and started again on the same address and data. */
  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }
  async kill(): Promise<void> {
    this.daemon.child.kill('SIGKILL');
    await this.daemon.ended;
  }
  async start(): Promise<void> {
    this.daemon = await this.machine.up(this.repository.root, '--port', new URL(this.daemon.url).port);
    this.#connect();
  }

  async close(): Promise<void> {
    await this.browser?.close();
    await this.machine.close();
    this.repository.remove();
  }
}
