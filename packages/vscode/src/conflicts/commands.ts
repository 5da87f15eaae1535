import * as vscode from 'vscode';
import { act, isTrusted, problemText } from '../act.ts';
import type { Link } from '../link.ts';
import { sayInfo } from '../say.ts';
import { pickText } from '../words.ts';
import { CONFLICT_SCHEME } from './address.ts';
import { type ConflictTools, chooseSide } from './choose.ts';
import { completeMerge, onClosed } from './complete.ts';
import { Drafts } from './drafts.ts';
import { FallbackDocuments } from './fallback-document.ts';
import { isMergeable, openMergeEditor, resultOf } from './merge-editor.ts';
import { MergeFiles } from './merge-files.ts';
import { abort, markResolved } from './settle.ts';
import { type ConflictNode, registerConflictTree } from './tree.ts';

/** More merge editors at once would bury the rest of the window. */
const MOST_EDITORS = 10;

export function registerConflicts(context: vscode.ExtensionContext, link: Link): void {
  const files = new MergeFiles(link, new Drafts(context.workspaceState));
  const fallback = new FallbackDocuments();
  const tools: ConflictTools = { link, files, fallback };
  registerConflictTree(context, link, files);
  const command = (name: string, run: (node: ConflictNode) => unknown) =>
    vscode.commands.registerCommand(`tidemill.${name}`, async (given?: ConflictNode) => {
      const node = given ?? (await pickConflict(link));
      if (node) await run(node);
    });
  context.subscriptions.push(
    fallback,
    vscode.workspace.registerFileSystemProvider(CONFLICT_SCHEME, files, { isCaseSensitive: true }),
    vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
      for (const tab of closed) void onClosed(link, files, resultOf(tab));
    }),
    vscode.commands.registerCommand('tidemill.completeMerge', () => completeMerge(link, files)),
    command('openMergeEditor', (node) => openMerge(tools, node)),
    command('markResolved', ({ conflict }) => markResolved(link, files, conflict.number)),
    command('abortConflict', ({ conflict }) => abort(link, conflict.number, conflict.title)),
    command('showConflictCommands', ({ conflict }) => showCommands(tools, conflict.number)),
  );
}

/** For the command palette, where no conflict is selected. */
async function pickConflict(link: Link): Promise<ConflictNode | undefined> {
  const found = await act(link, ({ api, project }) => api.conflicts({ project }));
  if (!found) return undefined;
  if (found.length === 0) {
    void sayInfo('No conflicts.');
    return undefined;
  }
  const items = found.map((conflict) => ({ label: pickText(`#${conflict.number} ${conflict.title}`), conflict }));
  const picked = await vscode.window.showQuickPick(items, { placeHolder: 'Choose a conflict' });
  return picked && { conflict: picked.conflict };
}

/** One file, or all files of a conflict that are not resolved. */
async function openMerge(tools: ConflictTools, node: ConflictNode): Promise<void> {
  const { link, files, fallback } = tools;
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
      await fallback.showInstead(detail, problemText(error));
      return;
    }
    for (const file of chosen.filter((one) => !isMergeable(one))) await chooseSide(tools, detail, file);
    if (chosen.length === 0) void sayInfo(`Nothing of #${detail.number} is left to resolve. Mark it as resolved.`);
  });
}

async function showCommands({ link, files, fallback }: ConflictTools, number: number): Promise<void> {
  if (!(await isTrusted())) return;
  await act(link, async () => fallback.show(await files.load(number), 'The merge editor is one way to resolve it.'));
}
