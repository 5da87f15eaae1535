import type { ConflictDetail, ConflictFile, Resolution } from '@tidemill/contract';
import * as vscode from 'vscode';
import { act } from '../act.ts';
import type { Link } from '../link.ts';
import type { FallbackDocuments } from './fallback-document.ts';
import type { MergeFiles } from './merge-files.ts';
import { markResolved, sayResolved } from './settle.ts';

interface Choice extends vscode.QuickPickItem {
  resolution: Resolution | null;
}

/** What the commands about conflicts use. */
export interface ConflictTools {
  link: Link;
  files: MergeFiles;
  fallback: FallbackDocuments;
}

/** Deleted on one side, binary, or too large: one side is taken as a whole. */
export async function chooseSide(
  { link, files, fallback }: ConflictTools,
  detail: ConflictDetail,
  file: ConflictFile,
): Promise<void> {
  const { number, target } = detail;
  const choices = choicesOf(file, number, target);
  const title = `${file.path}: ${file.kind.replaceAll('_', ' ')}`;
  const picked = await vscode.window.showQuickPick(choices, { title, placeHolder: 'Which version stays?' });
  if (!picked) return;
  if (!picked.resolution) {
    await fallback.show(detail, `${file.path} cannot be merged as text.`);
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
