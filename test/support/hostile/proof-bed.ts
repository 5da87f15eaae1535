import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Api, EventBody, LoggedEvent, NewTask } from '@tidemill/contract';
import { QUIET_CONFIG, TemporaryRepository } from '../../e2e/cli-repository.ts';
import { TidemillHome } from '../tidemill-home.ts';
import { until } from '../until.ts';

const RESULT = `echo '{"tidemill":"result","outcome":"pr_ready","summary":"done"}'`;
const agentThat = (does: string) => `#!/bin/sh\ncat > /dev/null\n${does}\n${RESULT}\n`;

/** One daemon for all tests of a file; each test works in a project of its own. */
export class ProofBed {
  readonly machine = new TidemillHome();
  readonly #idle = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
  #count = 0;

  open = () => this.machine.up(this.#idle.root);
  async close(): Promise<void> {
    await this.machine.close();
    this.#idle.remove();
  }

  /** A repository with this config in addition to the usual lines, and an agent that does this in its worktree. */
  async repository(config: string, agent: string, files: Record<string, string> = {}): Promise<ProofProject> {
    this.#count += 1;
    const made = new ProofProject(this.machine, join(this.machine.folder, `repository-${this.#count}`));
    const head =
      'target: main\npipeline: quick\nsource: ["*.txt"]\nagents:\n  default: { type: command, command: [./agent], free: true }\n';
    await made.save({
      '.gitignore': 'node_modules/\n.cache/\n.env.test\n',
      agent: agentThat(agent),
      '.tidemill/config.yaml': head + config,
      ...files,
    });
    await chmod(join(made.root, 'agent'), 0o755);
    await this.machine.git(made.root, 'init', '-q', '-b', 'main');
    await made.commit('Start');
    return made;
  }
}

export class ProofProject {
  readonly machine: TidemillHome;
  readonly root: string;
  readonly api: Api;
  project = '';

  constructor(machine: TidemillHome, root: string) {
    this.machine = machine;
    this.root = root;
    this.api = machine.api();
  }

  /** The daemon begins to work on it. */
  async start(): Promise<void> {
    this.project = (await this.api.attachProject({ root: this.root })).project.id;
  }
  async save(files: Record<string, string>): Promise<void> {
    for (const [file, text] of Object.entries(files)) {
      await mkdir(dirname(join(this.root, file)), { recursive: true });
      await writeFile(join(this.root, file), text);
    }
  }
  async commit(message: string): Promise<void> {
    await this.machine.git(this.root, 'add', '-A');
    await this.machine.git(this.root, 'commit', '-q', '-m', message);
  }
  add = (title: string, more: Partial<NewTask> = {}) => this.api.addTask({ project: this.project, title, ...more });
  detail = (number: number) => this.api.task({ project: this.project, task: String(number) });
  task = async (number: number) => (await this.detail(number)).task;
  evidence = () => this.api.evidence({ project: this.project });
  alerts = async () => (await this.api.inbox({ project: this.project })).filter(({ kind }) => kind === 'alert');
  byTitle = async (title: string) =>
    (await this.api.tasks({ project: this.project })).find((each) => each.title === title);
  arrives = (title: string, stage: string) => until(async () => (await this.byTitle(title))?.stage === stage);

  /** Waits until the project's log has such an event. */
  async event<T extends EventBody['type']>(
    type: T,
    isIt: (body: Extract<EventBody, { type: T }>) => boolean = () => true,
    after = 0,
  ): Promise<LoggedEvent> {
    const over = new AbortController();
    const asked = { project: this.project, after, follow: true, types: [type] };
    try {
      for await (const event of this.api.events(asked, over.signal))
        if (isIt(event.body as Extract<EventBody, { type: T }>)) return event;
      throw new Error(`the daemon ended before ${type}`);
    } finally {
      over.abort();
    }
  }
}
