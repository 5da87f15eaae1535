import * as vscode from 'vscode';
import { act, isTrusted } from '../act.ts';
import type { Link } from '../link.ts';
import { TaskTree } from './tree.ts';

export function registerTasks(context: vscode.ExtensionContext, link: Link): void {
  const tree = new TaskTree(link);
  const view = vscode.window.createTreeView('tidemill.tasks', { treeDataProvider: tree, showCollapseAll: true });
  let want: vscode.Disposable | null = null;
  const watch = () => {
    if (view.visible) want ??= link.want('tasks');
    else {
      want?.dispose();
      want = null;
    }
  };
  watch();
  context.subscriptions.push(
    view,
    view.onDidChangeVisibility(watch),
    link.onChange((part) => {
      if (part === 'tasks' || part === 'state') tree.changed();
    }),
    vscode.commands.registerCommand('tidemill.addTask', () => addTask(link)),
  );
}

async function addTask(link: Link): Promise<void> {
  if (!(await isTrusted())) return;
  const title = await vscode.window.showInputBox({ title: 'Add a task', prompt: 'What should be done?' });
  if (!title?.trim()) return;
  const added = await act(link, ({ api, project }) => api.addTask({ project, title: title.trim() }));
  if (added) void vscode.window.showInformationMessage(`#${added.number} added.`);
}
