import * as vscode from 'vscode';
import { act, isTrusted } from '../act.ts';
import type { Link } from '../link.ts';

/** Takes a task from its agent, for another or for any. It is confirmed, because the agent's run is ended. */
export async function reassign(
  link: Link,
  task: { number: number; title: string },
  holder: string | null,
): Promise<void> {
  if (!(await isTrusted())) return;
  const workers = await act(link, ({ api, project }) => api.workers({ project }));
  if (!workers) return;
  const others = workers.filter(({ name, role }) => role === 'builder' && name !== holder);
  const picks: { label: string; description?: string; worker: string | null }[] = [
    { label: 'Any agent', description: 'back to the queue', worker: null },
    ...others.map(({ name, status }) => ({ label: name, description: status, worker: name })),
  ];
  const picked = await vscode.window.showQuickPick(picks, {
    title: `Reassign #${task.number} ${task.title}`,
    placeHolder: 'Who should work on it?',
  });
  if (!picked) return;
  const detail = holder
    ? `${holder} stops working on it. Its work so far is kept.`
    : 'Only the chosen agent takes it from now on.';
  const question = `Reassign #${task.number} to ${picked.worker ?? 'any agent'}?`;
  if (!(await vscode.window.showWarningMessage(question, { modal: true, detail }, 'Reassign'))) return;
  await act(link, ({ api, project, by }) =>
    api.reassignTask({ project, task: task.number, worker: picked.worker, by }),
  );
}
