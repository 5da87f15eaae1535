import * as vscode from 'vscode';
import { problemText } from './act.ts';
import type { Link } from './link.ts';

/**
 * Read-only documents that the daemon's answers fill. While there is no daemon they keep their text, with the comments on it.
 * They are read again when it is back.
 */
export abstract class DaemonDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  protected readonly link: Link;
  readonly #scheme: string;
  readonly #changes = new vscode.EventEmitter<vscode.Uri>();
  readonly #subscriptions: vscode.Disposable;
  readonly onDidChange = this.#changes.event;

  constructor(link: Link, scheme: string) {
    this.link = link;
    this.#scheme = scheme;
    this.#subscriptions = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(scheme, this),
      link.onChange((part) => {
        if (part === 'tasks') this.follow();
        else if (part === 'state' && link.seen.state === 'ready') this.readAgain(() => true);
      }),
    );
  }

  protected abstract read(uri: vscode.Uri): Promise<string>;
  /** Tasks have changed. */
  protected abstract follow(): void;

  get open(): vscode.TextDocument[] {
    return vscode.workspace.textDocuments.filter(({ uri, isClosed }) => uri.scheme === this.#scheme && !isClosed);
  }

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    try {
      return await this.read(uri);
    } catch (error) {
      const shown = this.open.find((document) => document.uri.toString() === uri.toString());
      if (shown && this.#isAway(error)) return shown.getText();
      return `This could not be read.\n${problemText(error)}`;
    }
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.#changes.dispose();
  }

  protected readAgain(isWanted: (uri: vscode.Uri) => boolean): void {
    for (const { uri } of this.open) if (isWanted(uri)) this.#changes.fire(uri);
  }

  #isAway(error: unknown): boolean {
    if (this.link.seen.state !== 'ready') return true;
    return error instanceof Error && 'code' in error && error.code === 'daemon_unreachable';
  }
}
