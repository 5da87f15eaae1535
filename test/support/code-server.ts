import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { CODE_SERVER } from '../../scripts/ensure-code-server.mjs';

export const hasCodeServer = existsSync(CODE_SERVER);
export const NO_CODE_SERVER = 'code-server is not installed (npm test installs it once)';

/** Nothing that shows up by itself, and the same look on every machine. */
const SETTINGS = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'telemetry.telemetryLevel': 'off',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'update.mode': 'none',
  'git.openRepositoryInParentFolders': 'never',
  'git.autofetch': false,
  'files.simpleDialog.enable': true,
  'remote.autoForwardPorts': false,
  'window.dialogStyle': 'custom',
  'security.workspace.trust.startupPrompt': 'never',
  'security.workspace.trust.enabled': false,
};

interface Start {
  /** Where it keeps all it writes. */
  folder: string;
  env: NodeJS.ProcessEnv;
  /** Settings that belong to the machine on which the editor's server runs. */
  machineSettings?: Record<string, unknown>;
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    // Nothing of it is left.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** A real VS Code on loopback, without anything of the person who runs the tests. */
export class CodeServer {
  readonly #options: Start;
  readonly #data: string;
  #child: ChildProcess | null = null;
  url = '';

  private constructor(options: Start) {
    this.#options = options;
    this.#data = join(options.folder, 'editor');
  }

  static async start(options: Start, extensions: string[]): Promise<CodeServer> {
    const server = new CodeServer(options);
    server.#configure();
    await server.#install(extensions);
    await server.#listen();
    return server;
  }

  /** The settings of the person, and those of the machine. */
  #configure(): void {
    this.#write('User', SETTINGS);
    this.#write('Machine', this.#options.machineSettings ?? {});
  }
  #write(kind: 'User' | 'Machine', settings: Record<string, unknown>): void {
    mkdirSync(join(this.#data, kind), { recursive: true });
    writeFileSync(join(this.#data, kind, 'settings.json'), JSON.stringify(settings, null, 2));
  }

  /** Windows that are opened from now on are not trusted until somebody says so, as in an ordinary editor. */
  distrust(): void {
    this.#write('User', { ...SETTINGS, 'security.workspace.trust.enabled': true });
  }

  /** The address of a window that shows this folder, or this workspace file. */
  window(path: string): string {
    const kind = path.endsWith('.code-workspace') ? 'workspace' : 'folder';
    return `${this.url}/?${kind}=${encodeURIComponent(path)}`;
  }

  async close(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    const impatience = setTimeout(() => child.kill('SIGKILL'), 5_000);
    await gone;
    clearTimeout(impatience);
    // It only watches the server, which would go on without it.
    killGroup(child.pid!);
  }

  get #arguments(): string[] {
    const config = join(this.#options.folder, 'code-server.yaml');
    writeFileSync(config, 'auth: none\n');
    return [
      ...[CODE_SERVER, '--config', config, '--auth', 'none', '--bind-addr', '127.0.0.1:0'],
      ...['--user-data-dir', this.#data, '--extensions-dir', join(this.#options.folder, 'extensions')],
      ...['--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'],
    ];
  }

  get #env(): NodeJS.ProcessEnv {
    const home = join(this.#options.folder, 'editor-home');
    mkdirSync(home, { recursive: true });
    // No extension comes from elsewhere: the port of discard answers nobody.
    const gallery = { serviceUrl: 'http://127.0.0.1:9/', itemUrl: 'http://127.0.0.1:9/' };
    return { ...this.#options.env, HOME: home, EXTENSIONS_GALLERY: JSON.stringify(gallery) };
  }

  async #install(extensions: string[]): Promise<void> {
    const wanted = extensions.flatMap((file) => ['--install-extension', file]);
    await promisify(execFile)(process.execPath, [...this.#arguments, ...wanted], { env: this.#env, timeout: 60_000 });
  }

  async #listen(): Promise<void> {
    const child = spawn(process.execPath, this.#arguments, {
      env: this.#env,
      cwd: this.#options.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      // In a group of its own, so that all of it can be ended.
      detached: true,
    });
    this.#child = child;
    const said: string[] = [];
    child.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text));
    for await (const line of createInterface(child.stdout)) {
      said.push(line);
      const [, url] = /HTTP server listening on (http:\S+?)\/?$/.exec(line) ?? [];
      if (url) {
        this.url = url;
        // Its further output must be read, or it would block.
        child.stdout.resume();
        return;
      }
    }
    throw new Error(`code-server ended before it was ready:\n${said.join('\n')}`);
  }
}
