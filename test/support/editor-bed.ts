import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Api, NewTask } from '@tidemill/contract';
import type { Browser } from 'playwright-core';
import { expect, inject, vi } from 'vitest';
import { createIds, systemClock } from '../../packages/daemon/src/clock.ts';
import { openStore } from '../../packages/daemon/src/store/open.ts';
import { packExtension } from '../../scripts/vscode-bundle.ts';
import { TemporaryRepository } from '../e2e/cli-repository.ts';
import { launchBrowser, PATIENCE_MS } from './browser.ts';
import { CodeServer } from './code-server.ts';
import { EditorWindow } from './editor-window.ts';
import { TidemillHome } from './tidemill-home.ts';

export interface Scene {
  /** Lines of `.tidemill/config.yaml` beside the agent, which plays the scenario. */
  config: string;
  /** The scenario's YAML; `{door NAME}` in a command waits until the test opens that door. */
  scenario: string;
  files: Record<string, string>;
  /** The data folder is a setting of the editor; otherwise it is in its environment. */
  isFolderSet?: boolean;
}

const AGENT = `target: main
untested: true
agents:
  default: { type: scripted, script: .tidemill/scenario.yaml }
`;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** An extension for tests, packed as one from the gallery is. */
function pack(extension: string, to: string): string {
  const file = join(to, `${basename(extension)}.vsix`);
  const vsce = join(import.meta.dirname, '..', '..', 'node_modules', '@vscode', 'vsce', 'vsce');
  const options = ['--no-dependencies', '--allow-missing-repository', '--skip-license', '--out', file];
  execFileSync(process.execPath, [vsce, 'package', ...options], { cwd: extension, stdio: 'pipe' });
  return file;
}

/** A real VS Code with the packed extension, a real repository with scripted agents, and a browser. No daemon runs yet. */
export class EditorBed {
  readonly machine = new TidemillHome({ USER: 'ada' });
  readonly repository = new TemporaryRepository();
  server!: CodeServer;
  browser!: Browser;
  project = '';
  readonly #doors = join(this.repository.root, '.doors');

  /** `extensions` are folders in test/support that are installed besides the packed one. */
  static async open(scene: Scene, ...extensions: string[]): Promise<EditorBed> {
    const bed = new EditorBed();
    bed.#prepare(scene);
    await bed.#start(extensions, scene.isFolderSet ?? false);
    return bed;
  }

  #prepare({ config, scenario, files }: Scene): void {
    const { repository } = this;
    mkdirSync(this.#doors);
    appendFileSync(join(repository.root, '.git', 'info', 'exclude'), '.doors\n');
    const waiting = (_: string, name: string) => `until [ -e '${join(this.#doors, name)}' ]; do sleep 0.1; done`;
    repository.write({
      ...files,
      '.tidemill/config.yaml': `readable: [.doors]\n${AGENT}${config}`,
      '.tidemill/scenario.yaml': scenario.replace(/\{door ([a-z]+)\}/g, waiting),
    });
    repository.git('add', '-A');
    repository.git('commit', '-q', '-m', 'Settings');
  }

  async #start(extensions: string[], isFolderSet: boolean): Promise<void> {
    const { folder, data } = this.machine;
    const { TIDEMILL_HOME, ...others } = this.machine.env;
    const env = isFolderSet ? others : { ...others, TIDEMILL_HOME };
    const packed = join(folder, 'packed');
    mkdirSync(packed);
    const { file } = await packExtension(join(folder, 'extension'), packed);
    const files = [file, ...extensions.map((name) => pack(join(import.meta.dirname, name), packed))];
    const machineSettings = {
      'tidemill.program': this.#program(),
      ...(isFolderSet ? { 'tidemill.dataFolder': data } : {}),
    };
    [this.server, this.browser] = await Promise.all([
      CodeServer.start({ folder, env, machineSettings }, files),
      launchBrowser(env),
    ]);
  }

  /** By a setting, because an editor may set the PATH of a login shell. */
  #program(): string {
    const file = join(this.machine.folder, 'tidemill');
    writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${inject('launcher')}' "$@"\n`);
    chmodSync(file, 0o755);
    return file;
  }

  window(path = this.repository.root): Promise<EditorWindow> {
    return EditorWindow.open(this.browser, this.server.window(path));
  }

  /** Of the daemon that runs now. */
  get api(): Api {
    return this.machine.api();
  }
  /** Until a daemon works on the repository. */
  async started(): Promise<void> {
    const find = async () => {
      if (!existsSync(join(this.machine.data, 'daemon.json'))) return '';
      return (await this.api.projects({ root: this.repository.root }))[0]?.id ?? '';
    };
    await expect.poll(find, { timeout: PATIENCE_MS }).not.toBe('');
    this.project = await find();
  }
  async add(title: string, more: Partial<NewTask> = {}): Promise<number> {
    return (await this.api.addTask({ project: this.project, title, ...more })).number;
  }
  /** Until an agent has changed as many files of the task. */
  async changed(task: number, files: number): Promise<void> {
    const now = async () => (await this.api.taskFiles({ project: this.project, task })).files.length;
    await expect.poll(now, { timeout: PATIENCE_MS }).toBe(files);
  }
  async until(task: number, stage: string): Promise<void> {
    const now = async () => (await this.api.task({ project: this.project, task })).task.stage;
    await expect.poll(now, { timeout: PATIENCE_MS }).toBe(stage);
  }
  /** An alert that a silent agent causes after ten minutes, written as the daemon writes it. */
  async raiseStuck(number: number): Promise<void> {
    const { task } = await this.api.task({ project: this.project, task: number });
    const store = await openStore({
      url: join(this.machine.data, 'store.db'),
      clock: systemClock,
      ids: createIds(systemClock),
    });
    const text = `#${number} ${task.title} has shown no progress for 10 minutes.`;
    const raised = { taskId: task.id, kind: 'stuck', severity: 'warning', subject: `#${number}`, text } as const;
    expect(await store.execute({ type: 'alert.raise', projectId: this.project, ...raised })).toMatchObject({
      ok: true,
    });
    await store.close();
  }
  openDoor(name: string): void {
    writeFileSync(join(this.#doors, name), '');
  }

  /** Ends the daemon that runs, no matter who started it, and waits for its end. */
  async stopDaemon(): Promise<void> {
    const file = join(this.machine.data, 'daemon.json');
    if (!existsSync(file)) return;
    const { pid } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number };
    process.kill(pid, 'SIGTERM');
    await vi.waitUntil(() => !isAlive(pid), { timeout: PATIENCE_MS });
  }

  async close(): Promise<void> {
    await this.browser?.close();
    await this.stopDaemon();
    await this.server?.close();
    await this.machine.close();
    this.repository.remove();
  }
}
