import type { TaskSummary } from '@tidemill/contract';
import * as vscode from 'vscode';
import { act, isTrusted } from '../act.ts';
import type { Link } from '../link.ts';
import { whileVisible } from '../while-visible.ts';
import { pickText } from '../words.ts';
import { registerAdding } from './adding.ts';
import { reassign } from './reassign.ts';
import { TaskDocuments } from './task-document.ts';
import { TaskTree } from './tree.ts';

/** What a command gets from any view that shows a task. */
type Named = Pick<TaskSummary, 'number' | 'title'> & Partial<TaskSummary>;

export function registerTasks(context: vscode.ExtensionContext, link: Link): void {
  const tree = new TaskTree(link);
  const view = vscode.window.createTreeView('tidemill.tasks', { treeDataProvider: tree, showCollapseAll: true });
  const documents = new TaskDocuments(link);
  const command = (name: string, run: (task: Named) => Promise<unknown>) =>
    vscode.commands.registerCommand(`tidemill.${name}`, async (node?: { task?: Named | null }) => {
      const task = node?.task ?? (await pickTask(link));
      if (task) await run(task);
    });
  registerAdding(context, link);
  context.subscriptions.push(
    view,
    documents,
    whileVisible(view, link, 'tasks'),
    link.onChange((part) => {
      if (part === 'tasks' || part === 'state') tree.changed();
    }),
    command('showTask', (task) => documents.show(task.number)),
    command('retryTask', (task) => retry(link, task)),
    command('approveTask', (task) => approve(link, task)),
    command('cancelTask', (task) => cancel(link, task)),
    command('reassignTask', (task) => reassign(link, task, task.worker ?? null)),
  );
}

/** For the command palette, where no task is selected. */
async function pickTask(link: Link): Promise<Named | undefined> {
  const found = await act(link, ({ api, project }) => api.tasks({ project, newestFirst: true, limit: 200 }));
  if (!found) return undefined;
  const items = found.map((task) => ({
    label: pickText(`#${task.number} ${task.title}`),
    description: task.stage,
    task,
  }));
  return (await vscode.window.showQuickPick(items, { placeHolder: 'Choose a task', matchOnDescription: true }))?.task;
}

async function retry(link: Link, { number, title }: Named): Promise<void> {
  if (!(await isTrusted())) return;
  const note = await vscode.window.showInputBox({
    title: `Retry #${number} ${title}`,
    prompt: 'A note for the next attempt. Leave it empty for none.',
  });
  if (note === undefined) return;
  await act(link, ({ api, project, by }) =>
    api.retryTask({ project, task: number, by, note: note.trim() || undefined }),
  );
}

async function approve(link: Link, { number }: Named): Promise<void> {
  if (await isTrusted()) await act(link, ({ api, project, by }) => api.approveTask({ project, task: number, by }));
}

async function cancel(link: Link, { number, title }: Named): Promise<void> {
  if (!(await isTrusted())) return;
  const detail = 'An agent that works on it is stopped. Its work is kept, and it can be restarted.';
  const question = `Cancel #${number} ${title}?`;
  if (!(await vscode.window.showWarningMessage(question, { modal: true, detail }, 'Cancel task'))) return;
  await act(link, ({ api, project, by }) => api.cancelTask({ project, task: number, by }));
}
