import * as vscode from 'vscode';
import { DaemonDocuments } from '../daemon-documents.ts';
import type { Link } from '../link.ts';
import { taskText } from './task-text.ts';

const SCHEME = 'tidemill-task';
const uriOf = (number: number) => vscode.Uri.from({ scheme: SCHEME, path: `/#${number}.md` });
const numberOf = (uri: vscode.Uri) => Number(/\d+/.exec(uri.path)?.[0] ?? 0);

/** A task as a read-only document, which follows the task. Shown as text: nothing in it is loaded or run. */
export class TaskDocuments extends DaemonDocuments {
  constructor(link: Link) {
    super(link, SCHEME);
  }

  async show(number: number): Promise<void> {
    await vscode.window.showTextDocument(uriOf(number), { preview: true });
  }

  protected async read(uri: vscode.Uri): Promise<string> {
    const { api, project } = await this.link.ready();
    return taskText(await api.task({ project: project.id, task: numberOf(uri) }));
  }

  protected follow(): void {
    this.readAgain(() => true);
  }
}
