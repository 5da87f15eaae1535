import { join } from 'node:path';
import type { Task } from '@tidemill/contract';
import { TemporaryRepository } from '../../e2e/cli-repository.ts';
import { type RunningDaemon, TidemillHome } from '../tidemill-home.ts';
import { until } from '../until.ts';
import { EmulatedGithub, type GithubOptions } from './emulated-github.ts';

/**
 * Writes a file named as the title says. It does what people ask: `in capitals`; it repairs what a check found; it keeps
 * both sides of a conflict.
 */
const AGENT = `#!/bin/sh
brief=$(cat)
name=$(printf '%s' "$brief" | sed -n 's/.*"title":"Write \\([a-z]*\\)[^"]*".*/\\1/p' | head -1)
if [ -f "$name.txt" ] && grep -q '^<<<<<<<' "$name.txt"; then
  grep -v '^[<=>|]\\{7\\}' "$name.txt" > kept && mv kept "$name.txt"
elif printf '%s' "$brief" | grep -q 'in capitals'; then
  printf '%s' "$name" | tr a-z A-Z > "$name.txt"
elif printf '%s' "$brief" | grep -q 'The check ci on GitHub failed'; then
  echo "$name repaired" > "$name.txt"
elif [ ! -f "$name.txt" ] || ! grep -q "$name" "$name.txt"; then
  echo "$name" >> "$name.txt"
fi
echo '{"tidemill":"result","outcome":"pr_ready","summary":"wrote the file"}'
`;

interface BedOptions extends Partial<GithubOptions> {
  /** Lines of the config besides the usual ones. */
  config?: string;
  files?: Record<string, string>;
  env?: NodeJS.ProcessEnv;
  /** Default: quick. */
  pipeline?: string;
  /** The entry of the default agent. */
  agent?: string;
  /** The variable with the secret of webhooks. */
  hook?: string;
  /** `github.workflows`. */
  workflows?: string;
}

/** A repository whose remote is the emulated GitHub, and the real program that works on it. */
export class GithubBed {
  readonly machine: TidemillHome;
  readonly repository: TemporaryRepository;
  readonly github: EmulatedGithub;
  daemon: RunningDaemon | null = null;

  private constructor(machine: TidemillHome, repository: TemporaryRepository, github: EmulatedGithub) {
    this.machine = machine;
    this.repository = repository;
    this.github = github;
  }

  get root(): string {
    return this.repository.root;
  }

  static async open({
    config = '',
    files = {},
    env = {},
    hook,
    workflows,
    pipeline,
    agent,
    ...options
  }: BedOptions = {}): Promise<GithubBed> {
    const machine = new TidemillHome({ GITHUB_TOKEN: 'ghp_mill', ...env });
    const github = await EmulatedGithub.start({ folder: join(machine.folder, 'github'), ...options });
    const text = `target: main
workers: 3
pipeline: ${pipeline ?? 'quick'}
landing: pull_request
github: { api: "${github.url}"${hook ? `, webhookSecret: ${hook}` : ''}${workflows ? `, workflows: ${workflows}` : ''} }
agents:
  default: ${agent ?? '{ type: command, command: [sh, agent.sh], free: true }'}
gates:
  - { name: test, run: "test -f agent.sh" }
${config}`;
    const repository = new TemporaryRepository({ 'agent.sh': AGENT, ...files, '.tidemill/config.yaml': text });
    repository.git('remote', 'add', 'origin', github.cloneUrl('mill-bot'));
    // Not the synchronous git of the repository: this process answers the push.
    await machine.git(repository.root, 'push', '-q', '-u', 'origin', 'main');
    return new GithubBed(machine, repository, github);
  }

  async up(): Promise<RunningDaemon> {
    this.daemon = await this.machine.up(this.root);
    return this.daemon;
  }

  async kill(): Promise<void> {
    this.daemon?.child.kill('SIGKILL');
    await this.daemon?.ended;
    this.daemon = null;
  }

  /** Returns its number. */
  add(title: string, accept: string[] = []): Promise<number> {
    return this.machine.ask(this.root, async (api, project) => {
      const { number } = await api.addTask({ project, title, accept });
      return number;
    });
  }

  task(number: number): Promise<Task> {
    return this.machine.ask(this.root, async (api, project) => (await api.task({ project, task: number })).task);
  }

  /** Waits until the task is so. */
  async when(number: number, isSo: (task: Task) => boolean): Promise<Task> {
    let task = await this.task(number);
    await until(async () => {
      task = await this.task(number);
      return isSo(task);
    });
    return task;
  }

  /** Waits for the pull request of the task's pushed work. */
  async pull(
    number: number,
    isSo: (task: Task) => boolean = () => true,
  ): Promise<{ task: Task; pull: number; head: string }> {
    const task = await this.when(number, (one) => one.pull !== null && one.offered !== null && isSo(one));
    return { task, pull: task.pull!.number, head: task.offered!.commit };
  }

  /** A colleague changes a file on main at GitHub. */
  async push(file: string, text: string): Promise<void> {
    const clone = join(this.machine.folder, `clone-${Math.random().toString(36).slice(2)}`);
    await this.machine.git(this.machine.folder, 'clone', '-q', this.github.cloneUrl('bob'), clone);
    await this.machine.program('sh', ['-c', `printf '%s' "$1" > "$2"`, 'sh', text, file], clone);
    await this.machine.git(clone, 'add', '-A');
    await this.machine.git(clone, 'commit', '-q', '-m', `Change ${file}`);
    await this.machine.git(clone, 'push', '-q', 'origin', 'HEAD:main');
  }

  async close(): Promise<void> {
    await this.machine.close();
    await this.github.close();
    this.repository.remove();
  }
}
