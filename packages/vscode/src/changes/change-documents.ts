import type { FileSide, TaskFile } from '@tidemill/contract';
import * as vscode from 'vscode';
import { DaemonDocuments } from '../daemon-documents.ts';
import type { Link } from '../link.ts';
import { CHANGE_SCHEME, type ChangeAddress, changeAddress, changeParts } from './address.ts';

const MOST_BYTES = 2_000_000;
/** Both sides of a file come in one answer, and the editor asks for them at the same time. */
const SHARED_MS = 2000;

export function changeUri(address: ChangeAddress): vscode.Uri {
  return vscode.Uri.from({ scheme: CHANGE_SCHEME, ...changeParts(address) });
}

/** The files of a task's change, before and after, as read-only documents that follow the task. */
export class ChangeDocuments extends DaemonDocuments {
  readonly #asked = new Map<string, { at: number; answer: Promise<TaskFile> }>();
  /** The state of each task when its documents were read. */
  readonly #states = new Map<number, string>();
  readonly #closing: vscode.Disposable;
  #want: vscode.Disposable | null = null;

  constructor(link: Link) {
    super(link, CHANGE_SCHEME);
    this.#closing = vscode.workspace.onDidCloseTextDocument(() => this.follow());
  }

  protected async read(uri: vscode.Uri): Promise<string> {
    const address = changeAddress(uri);
    if (!address) return 'This address names no file of a change.';
    this.#want ??= this.link.want('tasks');
    const { status, ...file } = await this.#read(address);
    const side = address.side === 'before' ? file.before : file.after;
    if (side) return textOf(side);
    return status === 'changed' ? '' : `This file does not exist ${address.side} the change.`;
  }

  override dispose(): void {
    super.dispose();
    this.#want?.dispose();
    this.#closing.dispose();
  }

  async #read({ project, task, path }: ChangeAddress): Promise<TaskFile> {
    const { api } = await this.link.ready();
    const key = JSON.stringify([project, task, path]);
    const known = this.#asked.get(key);
    if (known && Date.now() - known.at < SHARED_MS) return known.answer;
    const answer = api.taskFile({ project, task, path, maxBytes: MOST_BYTES });
    this.#asked.set(key, { at: Date.now(), answer });
    answer.catch(() => this.#asked.delete(key));
    return answer;
  }

  /** Reads open documents again when their task has moved on. */
  protected follow(): void {
    if (this.open.length === 0) {
      this.#want?.dispose();
      this.#want = null;
      this.#states.clear();
      this.#asked.clear();
      return;
    }
    const moved = new Set<number>();
    for (const task of this.link.seen.tasks) {
      const state = `${task.stage} ${task.stageSince} ${task.landedCommit} ${task.worker}`;
      const before = this.#states.get(task.number);
      this.#states.set(task.number, state);
      if (before !== undefined && before !== state) moved.add(task.number);
    }
    if (moved.size === 0) return;
    this.#asked.clear();
    this.readAgain((uri) => moved.has(changeAddress(uri)?.task ?? 0));
  }
}

function textOf({ text, isText, isCut }: FileSide): string {
  if (!isText) return 'This file is binary, a link or a submodule. It is not shown as text.';
  return isCut ? `${text}\n… cut here: the file is longer than ${MOST_BYTES / 1_000_000} MB.\n` : text;
}
