import type { ConflictDetail, ConflictFile, ConflictSummary, Resolution } from '@tidemill/contract';
import * as vscode from 'vscode';
import { act, isTrusted, problemText } from '../act.ts';
import type { Link } from '../link.ts';
import { CONFLICT_SCHEME, mergeAddress } from './address.ts';
import { Drafts } from './drafts.ts';
import { fallbackText } from './fallback.ts';
import { acceptMerge, isMergeable, openMergeEditor, resultOf } from './merge-editor.ts';
import { MergeFiles } from './merge-files.ts';
import { abort, markResolved, sayResolved } from './settle.ts';
import { type ConflictNode, registerConflictTree } from './tree.ts';

/** More merge editors at once would bury the rest of the window. */
const MOST_EDITORS = 10;

export function registerConflicts(context: vscode.ExtensionContext, link: Link): void {
  const files = new MergeFiles(link, new Drafts(context.workspaceState));
  registerConflictTree(context, link, files);
  const command = (name: string, run: (node: ConflictNode) => unknown) =>
    vscode.commands.registerCommand(`tidemill.${name}`, async (given?: ConflictNode) => {
      const node = given ?? (await pickConflict(link));
      if (node) await run(node);
    });
  context.subscriptions.push(
    vscode.workspace.registerFileSystemProvider(CONFLICT_SCHEME, files, { isCaseSensitive: true }),
    vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
      for (const tab of closed) void onClosed(link, files, resultOf(tab));
    }),
    vscode.commands.registerCommand('tidemill.completeMerge', () => completeMerge(link, files)),
    command('openMergeEditor', (node) => openMerge(link, files, node)),
    command('markResolved', ({ conflict }) => markResolved(link, files, conflict.number)),
    command('abortConflict', ({ conflict }) => abort(link, conflict.number, conflict.title)),
    command('showConflictCommands', ({ conflict }) => showCommands(link, files, conflict)),
  );
}

/** For the command palette, where no conflict is selected. */
async function pickConflict(link: Link): Promise<ConflictNode | undefined> {
  const found = await act(link, ({ api, project }) => api.conflicts({ project }));
  if (!found) return undefined;
  if (found.length === 0) {
    void vscode.window.showInformationMessage('No conflicts.');
    return undefined;
  }
  const items = found.map((conflict) => ({ label: `#${conflict.number} ${conflict.title}`, conflict }));
  const picked = await vscode.window.showQuickPick(items, { placeHolder: 'Choose a conflict' });
  return picked && { conflict: picked.conflict };
}

/** One file, or all files of a conflict that are not resolved. */
async function openMerge(link: Link, files: MergeFiles, node: ConflictNode): Promise<void> {
  if (!(await isTrusted())) return;
  await act(link, async ({ project }) => {
    const detail = await files.load(node.conflict.number);
    const chosen = detail.files.filter((file) =>
      node.path === undefined ? !file.isResolved : file.path === node.path,
    );
    const merged = chosen.filter(isMergeable).slice(0, MOST_EDITORS);
    try {
      // The first one last, so that it is the one in front.
      for (const { path } of merged.toReversed()) await openMergeEditor(project, detail, path);
    } catch (error) {
      await showFallback(detail, problemText(error));
      return;
    }
    for (const file of chosen.filter((one) => !isMergeable(one))) await choose(link, files, detail, file);
    if (chosen.length === 0)
      void vscode.window.showInformationMessage(
        `Nothing of #${detail.number} is left to resolve. Mark it as resolved.`,
      );
  });
}

/** Merges that this extension is completing: their tabs close without a question. */
const completing = new Set<string>();

async function completeMerge(link: Link, files: MergeFiles): Promise<void> {
  if (!(await isTrusted())) return;
  const { activeTab } = vscode.window.tabGroups.activeTabGroup;
  const result = activeTab ? resultOf(activeTab) : null;
  if (!result) {
    void vscode.window.showInformationMessage('Open a conflict in the merge editor first, from the view Conflicts.');
    return;
  }
  completing.add(result.toString());
  try {
    if (await acceptMerge()) await useDraft(link, files, result);
  } finally {
    completing.delete(result.toString());
  }
}

/** A merge that was closed without being completed is kept, and can be used as it is. */
async function onClosed(link: Link, files: MergeFiles, result: vscode.Uri | null): Promise<void> {
  if (!result || completing.has(result.toString())) return;
  const path = mergeAddress(result)?.path;
  try {
    if (!(await files.hasDraft(result))) return;
  } catch (error) {
    // The conflict is over, or the daemon is gone: there is nothing to use it for.
    link.log.info(`The merge of ${path} was closed: ${problemText(error)}`);
    return;
  }
  const use = 'Use as Resolution';
  const text = `The merge of ${path} was closed before it was completed. What you saved is kept.`;
  if ((await vscode.window.showInformationMessage(text, use)) === use) await useDraft(link, files, result);
}

async function useDraft(link: Link, files: MergeFiles, result: vscode.Uri): Promise<void> {
  const detail = await act(link, () => files.resolve(result));
  if (!detail) return;
  link.refresh(['conflicts']);
  await sayResolved(detail, mergeAddress(result)?.path ?? '', () => markResolved(link, files, detail.number));
}

interface Choice extends vscode.QuickPickItem {
  resolution: Resolution | null;
}

/** Deleted on one side, binary, or too large: one side is taken as a whole. */
async function choose(link: Link, files: MergeFiles, detail: ConflictDetail, file: ConflictFile): Promise<void> {
  const { number, target } = detail;
  const choices = choicesOf(file, number, target);
  const title = `${file.path}: ${file.kind.replaceAll('_', ' ')}`;
  const picked = await vscode.window.showQuickPick(choices, { title, placeHolder: 'Which version stays?' });
  if (!picked) return;
  if (!picked.resolution) {
    await showFallback(detail, `${file.path} cannot be merged as text.`);
    return;
  }
  const { resolution } = picked;
  const resolved = await act(link, ({ api, project, by }) =>
    api.resolveFile({ project, task: number, by, path: file.path, resolution }),
  );
  if (!resolved) return;
  const now = await files.load(number);
  link.refresh(['conflicts']);
  await sayResolved(now, file.path, () => markResolved(link, files, number));
}

const WITH_TASK: readonly string[] = ['both_changed', 'both_added', 'deleted_by_target', 'added_by_task'];
const WITH_TARGET: readonly string[] = ['both_changed', 'both_added', 'deleted_by_task', 'added_by_target'];

function choicesOf({ kind }: ConflictFile, number: number, target: string): Choice[] {
  const [ours, theirs] = [WITH_TASK.includes(kind), WITH_TARGET.includes(kind)];
  const side = (label: string, resolution: Resolution): Choice => ({ label, resolution });
  return [
    ...(ours ? [side(`Keep the version of #${number}`, { take: 'ours' })] : []),
    ...(theirs ? [side(`Use the version of ${target}`, { take: 'theirs' })] : []),
    ...(ours && theirs ? [] : [side('Delete the file', { take: 'deleted' })]),
    { label: 'Show commands for a terminal', resolution: null },
  ];
}

async function showCommands(link: Link, files: MergeFiles, { number }: ConflictSummary): Promise<void> {
  if (!(await isTrusted())) return;
  await act(link, async () => showFallback(await files.load(number), 'You asked for the commands.', false));
}

async function showFallback(detail: ConflictDetail, why: string, isProblem = true): Promise<void> {
  const content = fallbackText(detail, why);
  const document = await vscode.workspace.openTextDocument({ content, language: 'markdown' });
  await vscode.window.showTextDocument(document, { preview: false });
  if (!isProblem) return;
  const terminal = 'Open Terminal';
  const text = `The merge editor cannot be used for #${detail.number}. The steps for a terminal are shown instead.`;
  if ((await vscode.window.showWarningMessage(text, terminal)) !== terminal) return;
  vscode.window.createTerminal({ name: `Conflict of #${detail.number}`, cwd: detail.worktree }).show();
}
