import type { TaskSummary } from '@tidemill/contract';
import * as vscode from 'vscode';
import { act } from '../act.ts';
import type { Link } from '../link.ts';
import { sayInfo } from '../say.ts';
import { pickText } from '../words.ts';
import { ChangeDocuments, changeUri } from './change-documents.ts';
import { registerComments } from './comments.ts';
import { EvidenceDocuments, evidenceUri } from './evidence.ts';
import { OutputDocuments, outputUri } from './output.ts';

type Picked = Pick<TaskSummary, 'number' | 'title'>;

/** A task's change, its evidence and its output, as documents of the editor. */
export function registerChanges(context: vscode.ExtensionContext, link: Link): void {
  registerComments(context, link);
  const command = (name: string, show: (task: Picked) => Promise<unknown>) =>
    vscode.commands.registerCommand(`tidemill.${name}`, async (node?: { task?: Picked; conflict?: Picked }) => {
      const task = node?.task ?? node?.conflict ?? (await pickTask(link));
      if (task) await show(task);
    });
  context.subscriptions.push(
    new ChangeDocuments(link),
    new EvidenceDocuments(link),
    new OutputDocuments(link),
    command('showChange', (task) => showChange(link, task)),
    command('showEvidence', (task) => showEvidence(link, task)),
    command('showOutput', (task) => showOutput(link, task)),
  );
}

/** For the command palette, where no task is selected. */
async function pickTask(link: Link): Promise<Picked | undefined> {
  const found = await act(link, ({ api, project }) => api.tasks({ project, newestFirst: true, limit: 200 }));
  if (!found) return undefined;
  const items = found.map((task) => ({
    label: pickText(`#${task.number} ${task.title}`),
    description: task.stage,
    task,
  }));
  const picked = await vscode.window.showQuickPick(items, { placeHolder: 'Choose a task', matchOnDescription: true });
  return picked?.task;
}

async function showChange(link: Link, { number, title }: Picked): Promise<void> {
  await act(link, async ({ api, project }) => {
    const { files } = await api.taskFiles({ project, task: number });
    if (files.length === 0) {
      void sayInfo(`#${number} has no change yet.`);
      return;
    }
    const list = files.map(({ path, status }) => {
      const of = { project, task: number, path };
      const before = status === 'added' ? undefined : changeUri({ ...of, side: 'before' });
      const after = status === 'deleted' ? undefined : changeUri({ ...of, side: 'after' });
      return [after ?? before, before, after];
    });
    await vscode.commands.executeCommand('vscode.changes', `#${number} ${title}`, list);
  });
}

async function showEvidence(link: Link, { number }: Picked): Promise<void> {
  await act(link, async ({ project }) => show(evidenceUri(project, number)));
}

async function showOutput(link: Link, { number }: Picked): Promise<void> {
  await act(link, async ({ api, project }) => {
    const { runs } = await api.task({ project, task: number });
    const run = runs.toSorted((a, b) => a.startedAt - b.startedAt).at(-1);
    if (run) await show(outputUri({ project, task: number, run: run.id }));
    else void sayInfo(`No agent has worked on #${number} yet.`);
  });
}

async function show(uri: vscode.Uri): Promise<void> {
  await vscode.window.showTextDocument(uri, { preview: false });
}
