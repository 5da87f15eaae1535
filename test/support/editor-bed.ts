import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Api, NewTask } from '@tidemill/contract';
import type { Browser } from 'playwright-core';
import { inject } from 'vitest';
import { packExtension } from '../../scripts/vscode-bundle.ts';
import { TemporaryRepository } from '../e2e/cli-repository.ts';
import { launchBrowser } from './browser.ts';
import { CodeServer } from './code-server.ts';
import { EditorWindow } from './editor-window.ts';
import { TidemillHome } from './tidemill-home.ts';

interface Scene {
  /** Lines of `.tidemill/config.yaml` beside the agent, which plays the scenario. */
  config: string;
  /** The scenario's YAML; `{door NAME}` in a command waits until the test opens that door. */
  scenario: string;
  files: Record<string, string>;
}

const AGENT = `target: main
agents:
  default: { type: scripted, script: .tidemill/scenario.yaml }
`;

/** A real VS Code with the packed extension, a real repository with scripted agents, and a browser. No daemon runs yet. */
export class EditorBed {
  readonly machine = new TidemillHome({ USER: 'ada' });
  readonly repository = new TemporaryRepository();
  server!: CodeServer;
  browser!: Browser;
  project = '';
  readonly #doors = join(this.repository.root, '.doors');

  static async open(scene: Scene, ...extensions: string[]): Promise<EditorBed> {
    const bed = new EditorBed();
    bed.#prepare(scene);
    await bed.#start(extensions);
    return bed;
  }

  #prepare({ config, scenario, files }: Scene): void {
    const { repository } = this;
    mkdirSync(this.#doors);
    appendFileSync(join(repository.root, '.git', 'info', 'exclude'), '.doors\n');
    const waiting = (_: string, name: string) => `until [ -e '${join(this.#doors, name)}' ]; do sleep 0.1; done`;
    repository.write({
      ...files,
      '.tidemill/config.yaml': `${AGENT}${config}`,
      '.tidemill/scenario.yaml': scenario.replace(/\{door ([a-z]+)\}/g, waiting),
    });
    repository.git('add', '-A');
    repository.git('commit', '-q', '-m', 'Settings');
  }

  async #start(extensions: string[]): Promise<void> {
    const { folder, env } = this.machine;
    const packed = join(folder, 'packed');
    mkdirSync(packed);
    const { file } = await packExtension(join(folder, 'extension'), packed);
    const settings = { 'tidemill.program': this.#program() };
    [this.server, this.browser] = await Promise.all([
      CodeServer.start({ folder, env, settings }, [file, ...extensions]),
      launchBrowser(env),
    ]);
  }

  /** As it would be on the PATH of the person. */
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
  /** Once a daemon works on the repository. */
  async findProject(): Promise<void> {
    this.project = (await this.api.projects({ root: this.repository.root }))[0]!.id;
  }
  async add(title: string, more: Partial<NewTask> = {}): Promise<number> {
    return (await this.api.addTask({ project: this.project, title, ...more })).number;
  }
  async stage(task: number): Promise<string> {
    return (await this.api.task({ project: this.project, task })).task.stage;
  }
  openDoor(name: string): void {
    writeFileSync(join(this.#doors, name), '');
  }

  async close(): Promise<void> {
    await this.browser?.close();
    await this.server?.close();
    // The daemon was started by the editor, so the editor's end does not end it.
    await this.machine.run(['stop', '--now'], this.repository.root);
    await this.machine.close();
    this.repository.remove();
  }
}
