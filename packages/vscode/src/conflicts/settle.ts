import type { ConflictDetail } from '@tidemill/contract';
import * as vscode from 'vscode';
import { act, isTrusted } from '../act.ts';
import type { Link } from '../link.ts';
import { sayInfo, sayWarning } from '../say.ts';
import { plural } from '../words.ts';
import { mergeAddress } from './address.ts';
import { openResults } from './merge-editor.ts';
import type { MergeFiles } from './merge-files.ts';

/** Marks a conflict as resolved. What would be dropped of the target is named first, and only that is accepted. */
export async function markResolved(link: Link, files: MergeFiles, number: number): Promise<void> {
  if (!(await isTrusted())) return;
  const open = openResults()
    .map(mergeAddress)
    .filter((address) => address?.task === number);
  if (open.length > 0) {
    const names = open.map((address) => address?.path).join(', ');
    const text = `The merge of ${names} is not completed. Choose Complete Merge there, or close it.`;
    void sayWarning(text);
    return;
  }
  await act(link, async ({ api, project, by }) => {
    const detail = await files.load(number);
    const accept = detail.losses.map(({ content }) => content);
    if (detail.losses.length > 0 && !(await mayDrop(detail))) return;
    await api.settleConflict({ project, task: number, by, accept });
    link.refresh(['conflicts', 'tasks']);
    void sayInfo(`#${number} continues. The gates check your resolution.`);
  });
}

async function mayDrop({ number, losses, target }: ConflictDetail): Promise<boolean> {
  const { lossText } = await import('../contract-part.ts');
  const yes = 'Drop Changes';
  const detail =
    `Your resolution does not have everything that ${target} changed. If you go on, this is removed from ${target} when ` +
    `#${number} lands, and your decision is recorded.\n\n${lossText(losses, target, 5)}`;
  return (await vscode.window.showWarningMessage(`Drop changes of ${target}?`, { modal: true, detail }, yes)) === yes;
}

/** Gives the conflict up: the task is built again on the newest target. */
export async function abort(link: Link, number: number, title: string): Promise<void> {
  if (!(await isTrusted())) return;
  const yes = 'Restart Task';
  const detail =
    'It goes back to open, and an agent builds it again on the newest target. Your resolution and the branch are kept in a snapshot.';
  const chosen = await vscode.window.showWarningMessage(`Restart #${number} ${title}?`, { modal: true, detail }, yes);
  if (chosen !== yes) return;
  const done = await act(link, ({ api, project, by }) => api.abortConflict({ project, task: number, by }));
  if (!done) return;
  link.refresh(['conflicts', 'tasks']);
  void sayInfo(`#${number} starts again.`);
}

/** After a file was saved as resolved: how many are left, or that the conflict can be marked as resolved. */
export async function sayResolved(
  { number, files }: ConflictDetail,
  path: string,
  settle: () => Promise<void>,
): Promise<void> {
  const left = files.filter(({ isResolved }) => !isResolved).length;
  if (left > 0) {
    void sayInfo(`${path} is resolved. ${plural(left, 'file')} of #${number} left.`);
    return;
  }
  const mark = 'Mark Resolved';
  const text = `All files of #${number} are resolved.`;
  if ((await sayInfo(text, mark)) === mark) await settle();
}
