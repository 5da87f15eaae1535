import { userInfo } from 'node:os';
import type { Api, Project } from '@tidemill/contract';
import * as vscode from 'vscode';
import { dataFolderOf } from './connection/data-folder.ts';
import type { Follower } from './connection/follower.ts';
import { repositoriesIn, repositoryOf } from './connection/repositories.ts';
import { type LinkState, SEEN_NOTHING, type Seen, type SeenPart } from './connection/seen.ts';
import { otherVersionText } from './words.ts';

const CHOSEN = 'tidemill.repository';

/** This window's link to the daemon: what views show, and the way by which commands act. */
export class Link implements vscode.Disposable {
  readonly #context: vscode.ExtensionContext;
  readonly #changes = new vscode.EventEmitter<SeenPart>();
  readonly #wanted = new Map<SeenPart, number>();
  readonly #log: vscode.LogOutputChannel;
  #follower: Follower | null = null;
  /** Undefined until it was looked for. */
  #root: string | null | undefined;
  #opening: Promise<void> | null = null;
  #turn = 0;

  /** What has changed. Views that show it draw it again. */
  readonly onChange = this.#changes.event;

  constructor(context: vscode.ExtensionContext, log: vscode.LogOutputChannel) {
    this.#context = context;
    this.#log = log;
    context.subscriptions.push(
      this,
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.reopen()),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('tidemill.dataFolder')) void this.reopen();
      }),
      // Questions and alerts are told whichever view is open.
      this.want('inbox'),
    );
  }

  get seen(): Seen {
    if (this.#follower) return this.#follower.seen;
    return this.#root === null ? { ...SEEN_NOTHING, state: 'no_repository' } : SEEN_NOTHING;
  }
  /** The top folder of the repository; null when the workspace has none. */
  get root(): string | null {
    return this.#root ?? null;
  }
  get log(): vscode.LogOutputChannel {
    return this.#log;
  }
  /** The page's link. It contains the token: never log it. */
  get pageLink(): string | null {
    const daemon = this.#follower?.daemon;
    return daemon ? `${daemon.url}/?token=${daemon.token}` : null;
  }
  get daemon(): { url: string; token: string } | null {
    return this.#follower?.daemon ?? null;
  }
  /** Who acts, for the event log. */
  readonly by: string = personName();

  /** The first view or command opens it; later calls do nothing. */
  open(): Promise<void> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async reopen(): Promise<void> {
    this.#follower?.close();
    this.#follower = null;
    this.#opening = null;
    this.#root = undefined;
    await this.open();
  }

  /** As long as the result is not disposed, this part is kept up to date. */
  want(part: SeenPart): vscode.Disposable {
    const count = this.#wanted.get(part) ?? 0;
    this.#wanted.set(part, count + 1);
    if (count === 0) this.#follower?.refresh([part]);
    let isOver = false;
    return new vscode.Disposable(() => {
      if (isOver) return;
      isOver = true;
      const left = (this.#wanted.get(part) ?? 1) - 1;
      if (left > 0) this.#wanted.set(part, left);
      else this.#wanted.delete(part);
    });
  }

  refresh(parts: SeenPart[]): void {
    this.#follower?.refresh(parts);
  }
  look(): void {
    this.#follower?.look();
  }

  repositories(): string[] {
    return repositoriesIn((vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath));
  }

  async choose(root: string): Promise<void> {
    await this.#context.workspaceState.update(CHOSEN, root);
    await this.reopen();
  }

  /** The connected daemon's API with the project; explains itself when there is none. */
  async ready(): Promise<{ api: Api; project: Project; by: string }> {
    await this.#look();
    const api = this.#follower?.api;
    const { project, state } = this.seen;
    if (!api || !project || state !== 'ready')
      throw new Error(state === 'other_version' ? otherVersionText(this.seen.version) : WHY_NOT[state]);
    return { api, project, by: this.by };
  }

  /** Waits for a connected daemon, for as long as it takes. */
  async whenReady(signal: AbortSignal): Promise<Api> {
    await this.open();
    const { promise, resolve, reject } = Promise.withResolvers<Api>();
    const look = () => {
      const api = this.#follower?.api;
      if (api && this.seen.state === 'ready') resolve(api);
    };
    const stop = () => reject(signal.reason);
    const changes = this.onChange(look);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    look();
    try {
      return await promise;
    } finally {
      changes.dispose();
      signal.removeEventListener('abort', stop);
    }
  }

  /** The daemon's API where no project is needed yet. */
  async api(): Promise<Api | null> {
    await this.#look();
    return this.#follower?.api ?? null;
  }

  /** A command may be the first thing that a person does: it waits until the daemon was looked for. */
  async #look(): Promise<void> {
    await this.open();
    await this.#follower?.looked;
  }

  dispose(): void {
    this.#turn += 1;
    this.#follower?.close();
    this.#changes.dispose();
  }

  async #open(): Promise<void> {
    const turn = ++this.#turn;
    const found = this.repositories();
    const root = repositoryOf(found, this.#context.workspaceState.get<string>(CHOSEN));
    this.#root = root;
    void vscode.commands.executeCommand('setContext', 'tidemill.hasChoice', found.length > 1);
    if (root) {
      const { Follower } = await import('./contract-part.ts');
      // Opened again or closed meanwhile: only the newest follows.
      if (this.#turn !== turn) return;
      const setting = vscode.workspace.getConfiguration('tidemill').get<string>('dataFolder', '');
      this.#follower = new Follower({
        dataFolder: dataFolderOf(setting, process.env),
        root,
        wanted: () => new Set(this.#wanted.keys()),
        onChange: (part) => this.#changed(part),
        isTrusted: () => vscode.workspace.isTrusted,
        onProblem: (text) => this.#log.warn(text),
      });
      this.#follower.start();
    }
    this.#changed('state');
  }

  #changed(part: SeenPart): void {
    if (part === 'state') void vscode.commands.executeCommand('setContext', 'tidemill.state', this.seen.state);
    this.#changes.fire(part);
  }
}

const WHY_NOT: Record<Exclude<LinkState, 'other_version'>, string> = {
  looking: 'Tidemill is still being looked for. Try again in a moment.',
  no_repository: 'This workspace has no git repository. Open a folder with one.',
  no_daemon: 'Tidemill is not running. Start it with "Tidemill: Start".',
  no_project: 'Tidemill does not work on this repository yet. Start it here with "Tidemill: Start".',
  ready: 'Tidemill is not connected. Try again in a moment.',
};

function personName(): string {
  try {
    return userInfo().username || 'person';
  } catch {
    return 'person'; // a container's user may have no name
  }
}
