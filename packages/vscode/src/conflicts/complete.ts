import * as vscode from 'vscode';
import { act, isTrusted, problemText } from '../act.ts';
import type { Link } from '../link.ts';
import { sayInfo } from '../say.ts';
import { mergeAddress } from './address.ts';
import { acceptMerge, resultOf } from './merge-editor.ts';
import type { MergeFiles } from './merge-files.ts';
import { markResolved, sayResolved } from './settle.ts';

/** Merges that this extension is completing: their tabs close without a question. */
const completing = new Set<string>();

/** Ends the merge in the active merge editor: its result resolves the file. */
export async function completeMerge(link: Link, files: MergeFiles): Promise<void> {
  if (!(await isTrusted())) return;
  const { activeTab } = vscode.window.tabGroups.activeTabGroup;
  const result = activeTab ? resultOf(activeTab) : null;
  if (!result) {
    void sayInfo('Open a conflict in the merge editor first, from the view Conflicts.');
    return;
  }
  completing.add(result.toString());
  try {
    if (await acceptMerge(result)) await useDraft(link, files, result);
  } finally {
    completing.delete(result.toString());
  }
}

/** A merge that was closed without being completed is kept, and can be used as it is. */
export async function onClosed(link: Link, files: MergeFiles, result: vscode.Uri | null): Promise<void> {
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
  if ((await sayInfo(text, use)) === use) await useDraft(link, files, result);
}

async function useDraft(link: Link, files: MergeFiles, result: vscode.Uri): Promise<void> {
  if (!(await isTrusted())) return;
  const detail = await act(link, () => files.resolve(result));
  if (!detail) return;
  link.refresh(['conflicts']);
  await sayResolved(detail, mergeAddress(result)?.path ?? '', () => markResolved(link, files, detail.number));
}
