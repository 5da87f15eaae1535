import type { ConflictDetail, ConflictFile } from '@tidemill/contract';
import * as vscode from 'vscode';
import { problemText } from '../act.ts';
import type { Link } from '../link.ts';
import { CONFLICT_SCHEME, type MergeAddress, type MergePart, mergeAddress, mergeParts } from './address.ts';
import type { Drafts } from './drafts.ts';

/** The four documents of a merge come with one answer. */
const SHARED_MS = 2000;

export function mergeUri(address: MergeAddress): vscode.Uri {
  return vscode.Uri.from({ scheme: CONFLICT_SCHEME, ...mergeParts(address) });
}

interface Known {
  at: number;
  detail: Promise<ConflictDetail>;
}

/** The files of conflicts, from the daemon. What is saved is a draft until the merge is completed. */
export class MergeFiles implements vscode.FileSystemProvider {
  readonly #link: Link;
  readonly #drafts: Drafts;
  readonly #changes = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly #known = new Map<number, Known>();
  /** The last answers: an open merge goes on, and its drafts are kept, while there is no daemon. */
  readonly #last = new Map<number, ConflictDetail>();
  /** The editor compares times to see whether a file has changed under it. */
  readonly #times = new Map<string, number>();
  readonly #started = Date.now();
  readonly onDidChangeFile = this.#changes.event;

  constructor(link: Link, drafts: Drafts) {
    this.#link = link;
    this.#drafts = drafts;
  }

  /** As it is now; this opens the merge in the task's worktree, if it is not open yet. */
  async load(task: number): Promise<ConflictDetail> {
    const { api, project } = await this.#link.ready();
    const detail = api.conflict({ project: project.id, task });
    this.#known.set(task, { at: Date.now(), detail });
    try {
      this.#last.set(task, await detail);
    } catch (error) {
      this.#known.delete(task);
      throw error;
    }
    return detail;
  }

  /** What was read last, for the tree; it asks nobody. */
  lastKnown(task: number): ConflictDetail | null {
    return this.#last.get(task) ?? null;
  }

  /** The saved result, which resolves its file. Returns the conflict as it is then. */
  async resolve(uri: vscode.Uri): Promise<ConflictDetail> {
    const { address, file } = await this.#find(uri);
    const { api, by } = await this.#link.ready();
    const { project, task, path } = address;
    const text = this.#drafts.get(uri.toString(), file) ?? file.current ?? '';
    await api.resolveFile({ project, task, by, path, resolution: { text } });
    await this.#drafts.drop(uri.toString());
    this.#touched(uri);
    return this.load(task);
  }

  /** Whether something was saved in the merge editor and is not used yet. */
  async hasDraft(uri: vscode.Uri): Promise<boolean> {
    const { file } = await this.#find(uri);
    return this.#drafts.get(uri.toString(), file) !== null;
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const content = await this.readFile(uri);
    const isResult = mergeAddress(uri)?.part === 'result';
    return {
      type: vscode.FileType.File,
      ctime: this.#started,
      mtime: this.#times.get(uri.toString()) ?? this.#started,
      size: content.byteLength,
      ...(isResult ? {} : { permissions: vscode.FilePermission.Readonly }),
    };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const { address, file } = await this.#find(uri);
    const draft = address.part === 'result' ? this.#drafts.get(uri.toString(), file) : null;
    // A side without the file is empty in the merge editor.
    return Buffer.from(draft ?? file[FIELDS[address.part]] ?? '');
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const { address, file } = await this.#find(uri);
    if (address.part !== 'result') throw vscode.FileSystemError.NoPermissions('Only the result can be changed.');
    await this.#drafts.keep(uri.toString(), file, Buffer.from(content).toString('utf8'));
    this.#touched(uri);
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }
  readDirectory(): never {
    throw vscode.FileSystemError.NoPermissions('The files of a conflict are opened from the view Conflicts.');
  }
  createDirectory(): never {
    return this.readDirectory();
  }
  delete(): never {
    return this.readDirectory();
  }
  rename(): never {
    return this.readDirectory();
  }

  #touched(uri: vscode.Uri): void {
    this.#times.set(uri.toString(), Date.now());
    this.#changes.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  async #find(uri: vscode.Uri): Promise<{ address: MergeAddress; file: ConflictFile }> {
    const address = mergeAddress(uri);
    if (!address) throw vscode.FileSystemError.FileNotFound(uri);
    const known = this.#known.get(address.task);
    const isFresh = known !== undefined && Date.now() - known.at < SHARED_MS;
    let detail: ConflictDetail;
    try {
      detail = await (isFresh ? known.detail : this.load(address.task));
    } catch (error) {
      const last = this.#link.seen.state === 'ready' ? undefined : this.#last.get(address.task);
      if (!last) throw vscode.FileSystemError.Unavailable(problemText(error));
      detail = last;
    }
    const file = detail.files.find(({ path }) => path === address.path);
    if (!file?.isText) throw vscode.FileSystemError.FileNotFound(uri);
    return { address, file };
  }
}

const FIELDS = { base: 'base', target: 'theirs', task: 'ours', result: 'current' } as const satisfies Record<
  MergePart,
  keyof ConflictFile
>;
