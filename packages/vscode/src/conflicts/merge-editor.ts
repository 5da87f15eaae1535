import type { ConflictDetail, ConflictFile } from '@tidemill/contract';
import * as vscode from 'vscode';
import { CONFLICT_SCHEME, type MergePart } from './address.ts';
import { mergeUri } from './merge-files.ts';

/** An internal command of the editor: it can be missing, change or fail. */
const COMMAND = '_open.mergeEditor';
const PATIENCE_MS = 10_000;
const SAVE_PATIENCE_MS = 5_000;

/** Whether three texts can be merged. The others are chosen as a whole, or resolved with git. */
export const isMergeable = ({ form, kind }: ConflictFile): boolean =>
  form === 'text' && (kind === 'both_changed' || kind === 'both_added');

/** Opens the editor's own three-way merge. Throws when it does not open. */
export async function openMergeEditor(project: string, conflict: ConflictDetail, path: string): Promise<void> {
  const { number, target, branch } = conflict;
  const uri = (part: MergePart) => mergeUri({ project, task: number, part, path });
  const commands = await vscode.commands.getCommands(false);
  if (!commands.includes(COMMAND)) throw new Error('This editor has no merge editor.');
  const result = uri('result');
  const opened = whenOpen(result);
  try {
    await vscode.commands.executeCommand(COMMAND, {
      base: uri('base'),
      input1: { uri: uri('target'), title: target, description: 'the target' },
      input2: { uri: uri('task'), title: `#${number}`, description: branch },
      output: result,
    });
    await opened.done;
  } finally {
    opened.cancel();
  }
}

/** The command may end without an error although nothing was opened; the result's document shows that it was. */
function whenOpen(uri: vscode.Uri): { done: Promise<void>; cancel(): void } {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const isIt = (document: vscode.TextDocument) => document.uri.toString() === uri.toString();
  if (vscode.workspace.textDocuments.some(isIt)) resolve();
  const watching = vscode.workspace.onDidOpenTextDocument((document) => isIt(document) && resolve());
  const timer = setTimeout(() => reject(new Error('The merge editor did not open.')), PATIENCE_MS);
  promise.catch(() => undefined);
  return {
    done: promise,
    cancel: () => {
      watching.dispose();
      clearTimeout(timer);
    },
  };
}

/** The results of merges that are open in a merge editor. */
export const openResults = (): vscode.Uri[] =>
  vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs.map(resultOf)).filter((uri) => uri !== null);

/** The result of a merge editor of ours. The editor gives it; its type is not yet among those for extensions. */
export function resultOf({ input }: vscode.Tab): vscode.Uri | null {
  if (typeof input !== 'object' || input === null || !('result' in input)) return null;
  const { result } = input;
  return result instanceof vscode.Uri && result.scheme === CONFLICT_SCHEME ? result : null;
}

const isAccepted = (answer: unknown): boolean =>
  typeof answer === 'object' && answer !== null && 'successful' in answer && answer.successful === true;

/** What the editor itself does at the end of a merge: asks about conflicts that are left, saves, and closes the tab. */
export async function acceptMerge(result: vscode.Uri): Promise<boolean> {
  await save(result);
  return isAccepted(await vscode.commands.executeCommand('mergeEditor.acceptMerge'));
}

/**
 * While the editor saves a document by itself it ignores other requests to save it. Then the end of a merge would find
 * unsaved changes and ask what to do with them. So this waits until what was begun is saved.
 */
async function save(uri: vscode.Uri): Promise<void> {
  const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
  if (!document?.isDirty) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const watching = vscode.workspace.onDidSaveTextDocument((each) => each === document && resolve());
  const timer = setTimeout(resolve, SAVE_PATIENCE_MS);
  try {
    if (!(await document.save())) await promise;
  } finally {
    watching.dispose();
    clearTimeout(timer);
  }
}
