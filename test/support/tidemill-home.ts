import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Api, AppError, type EventBody, type LoggedEvent } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';
import { inject } from 'vitest';
import { connect, projectAt } from '../../packages/daemon/src/cli/connect.ts';
import { rootOf } from '../../packages/daemon/src/git/repository.ts';
import { type Finished, needsProcess, runCommand } from './command-line.ts';

const LAUNCHER = inject('launcher');

export type { Finished };

export interface StartedDaemon {
  /** The daemon itself: on a new enough Node the launcher runs the program in its own process. */
  child: ChildProcess;
  /** Its first line of output. */
  ready: Promise<string>;
  ended: Promise<undefined>;
  stderr(): string;
}

/** A daemon that has reported that it is ready. */
export interface RunningDaemon extends StartedDaemon {
  pid: number;
  url: string;
  /** Opens the page. */
  link: string;
}

/** A newcomer's machine: a fresh HOME and data folder, no git identity but the one given here, and the real program. */
export class TidemillHome {
  readonly folder = mkdtempSync(join(tmpdir(), 'tidemill-e2e-'));
  readonly home = join(this.folder, 'home');
  readonly data = join(this.folder, 'data');
  readonly env: NodeJS.ProcessEnv;
  readonly #children = new Set<ChildProcess>();

  constructor(env: NodeJS.ProcessEnv = {}) {
    mkdirSync(this.home);
    const kept = Object.entries(process.env).filter(([name]) => !/^(TIDEMILL_|DATABASE_URL$|VITEST|GIT_)/.test(name));
    this.env = {
      ...Object.fromEntries(kept),
      HOME: this.home,
      TIDEMILL_HOME: this.data,
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_SYSTEM: '/dev/null',
      GIT_AUTHOR_NAME: 'Ada Miller',
      GIT_AUTHOR_EMAIL: 'ada@example.invalid',
      GIT_COMMITTER_NAME: 'Ada Miller',
      GIT_COMMITTER_EMAIL: 'ada@example.invalid',
      NO_COLOR: '1',
      ...env,
    };
  }

  /** Runs a command to its end, in this process if it needs none of its own. */
  run(args: string[], cwd: string): Promise<Finished> {
    return needsProcess(args) ? this.start(args, cwd) : runCommand(args, this.env, cwd);
  }

  /** Runs the program to its end, where its process is what a test is about. */
  start(args: string[], cwd: string): Promise<Finished> {
    return this.program(process.execPath, [LAUNCHER, ...args], cwd);
  }

  /** Runs a command that prints JSON and must succeed. */
  async json<T>(args: string[], cwd: string): Promise<T> {
    const { code, stdout, stderr } = await this.run([...args, '--json'], cwd);
    if (code !== 0) throw new Error(`tidemill ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
    return JSON.parse(stdout) as T;
  }

  /** The same for commands that print a line of JSON per thing. */
  async jsonLines<T>(args: string[], cwd: string): Promise<T[]> {
    const { code, stdout, stderr } = await this.run([...args, '--json'], cwd);
    if (code !== 0) throw new Error(`tidemill ${args.join(' ')} ended with ${code}: ${stderr}${stdout}`);
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as T);
  }

  async git(cwd: string, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.program('git', args, cwd);
    if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${code}: ${stderr}`);
    return stdout.trimEnd();
  }

  async program(file: string, args: string[], cwd: string): Promise<Finished> {
    const child = this.#spawn(file, args, cwd);
    let stdout = '';
    let stderr = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
    });
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
    });
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stdout, stderr };
  }

  /** `tidemill up --json`: resolves once it says that it is ready. */
  async up(cwd: string, ...more: string[]): Promise<RunningDaemon> {
    const starting = this.startUp(cwd, ...more);
    const line = await Promise.race([starting.ready, starting.ended]);
    if (line === undefined) throw new Error(`tidemill up ended before it was ready: ${starting.stderr()}`);
    const { pid, url, link } = JSON.parse(line) as Pick<RunningDaemon, 'pid' | 'url' | 'link'>;
    return { ...starting, pid, url, link };
  }

  /** The same without waiting. */
  startUp(cwd: string, ...more: string[]): StartedDaemon {
    const child = this.#spawn(process.execPath, [LAUNCHER, 'up', '--json', ...more], cwd);
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
    });
    const ended = once(child, 'exit').then(() => undefined);
    const ready = once(createInterface(child.stdout!), 'line').then(([line]) => String(line));
    return { child, ended, ready, stderr: () => stderr };
  }

  /** What a command asks of the daemon or of the store, without starting a process for it. */
  async ask<T>(root: string, look: (api: Api, project: string) => Promise<T>): Promise<T> {
    const connection = await connect(this.env);
    try {
      return await look(connection.api, (await projectAt(connection.api, await rootOf(root))).id);
    } finally {
      await connection.close();
    }
  }

  /** The project's log, or what it holds of these types. */
  events(root: string, types?: EventBody['type'][]): Promise<LoggedEvent[]> {
    return this.ask(root, async (api, project) => {
      const found: LoggedEvent[] = [];
      for await (const event of api.events({ project, types })) found.push(event);
      return found;
    });
  }

  /** The running daemon's API, as the command line reaches it. */
  api(): Api {
    return createClient(JSON.parse(readFileSync(join(this.data, 'daemon.json'), 'utf8')));
  }

  /** Waits until the running daemon's log has such an event, old or new. */
  async event<T extends EventBody['type']>(
    type: T,
    isIt: (body: Extract<EventBody, { type: T }>) => boolean = () => true,
    after = 0,
  ): Promise<LoggedEvent> {
    const over = new AbortController();
    try {
      for await (const event of this.api().events({ after, follow: true, types: [type] }, over.signal))
        if (isIt(event.body as Extract<EventBody, { type: T }>)) return event;
      throw new Error(`the daemon ended before ${type}`);
    } finally {
      over.abort();
    }
  }

  /** Waits for the next event of one of these types. */
  async nextEvent(types: EventBody['type'][]): Promise<void> {
    const api = this.api();
    const after = await this.#lastSeq(api);
    const over = new AbortController();
    try {
      for await (const _ of api.events({ after, follow: true, types }, over.signal)) break;
    } catch (error) {
      // The daemon was killed meanwhile: there is nothing more to wait for.
      if (!(error instanceof AppError && error.code === 'daemon_unreachable')) throw error;
    }
    over.abort();
  }

  /** Waits until the running daemon has nothing left to do on the project. */
  async idle(root: string): Promise<void> {
    const api = this.api();
    const over = new AbortController();
    const [project] = await api.projects({ root });
    const { id } = project!;
    for await (const _ of api.events({ project: id, follow: true }, over.signal)) {
      if ((await api.status({ project: id })).idle) break;
    }
    over.abort();
  }

  async #lastSeq(api: Api): Promise<number> {
    const [project] = await api.projects({});
    return project ? (await api.status({ project: project.id })).lastSeq : 0;
  }

  #spawn(file: string, args: string[], cwd: string): ChildProcess {
    const child = spawn(file, args, { cwd, env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    return child;
  }

  /** Ends what this test started and still runs, then removes the folder. */
  async close(): Promise<void> {
    const left = [...this.#children];
    await Promise.all(
      left.map(async (child) => {
        const gone = once(child, 'exit');
        child.kill('SIGKILL');
        await gone;
      }),
    );
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
