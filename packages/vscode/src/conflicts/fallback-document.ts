import type { ConflictDetail } from '@tidemill/contract';
import * as vscode from 'vscode';
import { sayWarning } from '../say.ts';
import { fallbackText } from './fallback.ts';

const SCHEME = 'tidemill-conflict-commands';

/** The steps for a terminal, as read-only documents. */
export class FallbackDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #texts = new Map<string, string>();
  readonly #changes = new vscode.EventEmitter<vscode.Uri>();
  readonly #provider = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  readonly onDidChange = this.#changes.event;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.path) ?? 'Open the conflict again from the view Conflicts.';
  }

  async show(detail: ConflictDetail, why: string): Promise<void> {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/Conflict of #${detail.number}.md` });
    this.#texts.set(uri.path, fallbackText(detail, why));
    this.#changes.fire(uri);
    await vscode.window.showTextDocument(uri, { preview: false });
  }

  /** The same where the merge editor was wanted and cannot be used. */
  async showInstead(detail: ConflictDetail, why: string): Promise<void> {
    await this.show(detail, why);
    const terminal = 'Open Terminal';
    const text = `The merge editor cannot be used for #${detail.number}. The steps for a terminal are shown instead.`;
    if ((await sayWarning(text, terminal)) !== terminal) return;
    vscode.window.createTerminal({ name: `Conflict of #${detail.number}`, cwd: detail.worktree }).show();
  }

  dispose(): void {
    this.#provider.dispose();
    this.#changes.dispose();
  }
}
