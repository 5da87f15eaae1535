import * as vscode from 'vscode';
import { act, isTrusted } from '../act.ts';
import type { Link } from '../link.ts';
import { sayInfo } from '../say.ts';
import { draftOfSelection, draftOfTodo, type TaskStart, todoIn } from './task-start.ts';

/** Adding tasks: by hand, from selected code, from a TODO comment. */
export function registerAdding(context: vscode.ExtensionContext, link: Link): void {
  const command = (name: string, run: (...given: never[]) => Promise<void>) =>
    vscode.commands.registerCommand(`tidemill.${name}`, run);
  context.subscriptions.push(
    command('addTask', () => add(link, { title: '', body: '', files: [] })),
    command('addTaskFromSelection', () => addFromSelection(link)),
    command('addTaskFromTodo', (uri?: vscode.Uri, line?: number) => addFromTodo(link, uri, line)),
    vscode.languages.registerCodeActionsProvider({ scheme: 'file' }, new TodoActions(), {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
  );
}

/** Offers "Add as Tidemill task" on a line with a TODO comment. */
class TodoActions implements vscode.CodeActionProvider {
  provideCodeActions(document: vscode.TextDocument, range: vscode.Range): vscode.CodeAction[] {
    const { line } = range.start;
    const todo = todoIn(document.lineAt(line).text);
    if (todo === null) return [];
    const action = new vscode.CodeAction('Add as Tidemill task', vscode.CodeActionKind.QuickFix);
    action.command = { command: 'tidemill.addTaskFromTodo', title: action.title, arguments: [document.uri, line] };
    return [action];
  }
}

const placeOf = (uri: vscode.Uri, line: number) => ({
  path: vscode.workspace.asRelativePath(uri, false),
  line: line + 1,
});

async function addFromSelection(link: Link): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.selection.isEmpty) {
    void sayInfo('Select the code that the task is about first.');
    return;
  }
  const { document, selection } = editor;
  const place = placeOf(document.uri, selection.start.line);
  await add(link, draftOfSelection(place, document.getText(selection), document.languageId));
}

async function addFromTodo(link: Link, uri?: vscode.Uri, line?: number): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const from = uri ?? editor?.document.uri;
  const at = line ?? editor?.selection.active.line;
  if (!from || at === undefined) return;
  const document = await vscode.workspace.openTextDocument(from);
  const todo = todoIn(document.lineAt(at).text);
  if (todo === null) {
    void sayInfo('This line has no TODO comment.');
    return;
  }
  await add(link, draftOfTodo(placeOf(from, at), todo));
}

async function add(link: Link, draft: TaskStart): Promise<void> {
  if (!(await isTrusted())) return;
  const title = await vscode.window.showInputBox({
    title: 'Add a task',
    prompt: 'What should be done?',
    value: draft.title,
    ignoreFocusOut: true,
    validateInput: (value) =>
      value.trim() === ''
        ? 'A task needs a title.'
        : value.length > 300
          ? 'A title has at most 300 characters.'
          : undefined,
  });
  if (title === undefined) return;
  const done = await vscode.window.showInputBox({
    title: 'Add a task',
    prompt: "How you'll know it's done. Leave it empty for none; separate several with ;",
    ignoreFocusOut: true,
  });
  if (done === undefined) return;
  const accept = done.split(';').flatMap((each) => each.trim() || []);
  const added = await act(link, ({ api, project }) =>
    api.addTask({ project, title: title.trim(), body: draft.body, files: draft.files, accept }),
  );
  if (added) vscode.window.setStatusBarMessage(`Tidemill: #${added.number} added`, 5000);
}
