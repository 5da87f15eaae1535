import * as vscode from 'vscode';
import { act } from '../act.ts';
import type { Link } from '../link.ts';
import { taskText } from './task-text.ts';

const SCHEME = 'tidemill-task';
const uriOf = (number: number) => vscode.Uri.from({ scheme: SCHEME, path: `/#${number}.md` });
const numberOf = (uri: vscode.Uri) => Number(/\d+/.exec(uri.path)?.[0] ?? 0);

/** A task as a read-only document, which follows the task. Shown as text: nothing in it is loaded or run. */
export class TaskDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #link: Link;
  readonly #changes = new vscode.EventEmitter<vscode.Uri>();
  readonly #subscriptions: vscode.Disposable;
  readonly onDidChange = this.#changes.event;

  constructor(link: Link) {
    this.#link = link;
    this.#subscriptions = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      link.onChange((part) => {
        if (part === 'tasks') this.#follow();
      }),
    );
  }

  async show(number: number): Promise<void> {
    await vscode.window.showTextDocument(uriOf(number), { preview: true });
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const detail = await act(this.#link, ({ api, project }) => api.task({ project, task: numberOf(uri) }));
    return detail ? taskText(detail) : 'This task could not be read.';
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.#changes.dispose();
  }

  #follow(): void {
    for (const { uri, isClosed } of vscode.workspace.textDocuments)
      if (uri.scheme === SCHEME && !isClosed) this.#changes.fire(uri);
  }
}
