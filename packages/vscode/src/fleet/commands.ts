import type { WorkerOperation, WorkerView } from '@tidemill/contract';
import * as vscode from 'vscode';
import { act, isTrusted } from '../act.ts';
import type { Link } from '../link.ts';
import { sayInfo } from '../say.ts';
import type { EditorSettings } from '../settings/settings.ts';
import { reassign } from '../tasks/reassign.ts';
import { plural } from '../words.ts';
import { stopEverything } from './emergency-stop.ts';
import { FleetView } from './view.ts';

const MOST_WORKERS = 10;

export function registerFleet(context: vscode.ExtensionContext, link: Link, settings: EditorSettings): void {
  const view = new FleetView(context.extensionUri, link, {
    worker: (name, operation) => void onCard(link, name, operation),
    task: (number) => {
      const task = link.seen.status?.workers.find((worker) => worker.task?.number === number)?.task;
      void vscode.commands.executeCommand('tidemill.showTask', { task: task ?? { number, title: '' } });
    },
    maxWorkers: () => settings.now.workers ?? MOST_WORKERS,
  });
  const command = (name: string, run: () => unknown) => vscode.commands.registerCommand(`tidemill.${name}`, run);
  context.subscriptions.push(
    vscode.window.registerWebviewViewProvider('tidemill.fleet', view),
    vscode.workspace.onDidGrantWorkspaceTrust(() => view.draw()),
    command('addAgent', () => addAgent(link, settings)),
    command('pauseAll', () => steer(link, 'all', 'pause')),
    command('resumeAll', () => steer(link, 'all', 'resume')),
    command('emergencyStop', () => stopEverything(link)),
    command('restartAgent', () => onPicked(link, 'restart')),
    command('resetAgent', () => onPicked(link, 'reset')),
    command('recoverStuck', () => recoverStuck(link)),
    command('purgeQueue', () => purgeQueue(link)),
  );
}

async function onCard(link: Link, name: string, operation: WorkerOperation | 'reassign'): Promise<void> {
  if (operation !== 'reassign') return steer(link, name, operation);
  const task = link.seen.status?.workers.find((worker) => worker.name === name)?.task;
  if (task) await reassign(link, task, name);
}

async function steer(link: Link, worker: string, operation: WorkerOperation): Promise<void> {
  if (!(await isTrusted())) return;
  await act(link, ({ api, project, by }) => api.steerWorkers({ project, worker, operation, by }));
}

async function addAgent(link: Link, settings: EditorSettings): Promise<void> {
  if (!(await isTrusted())) return;
  const most = settings.now.workers ?? MOST_WORKERS;
  await act(link, async ({ api, project }) => {
    const builders = (await api.workers({ project })).filter(
      (worker) => worker.role === 'builder' && !worker.isOutside,
    );
    if (builders.length >= most)
      throw new Error(
        settings.now.workers === null
          ? `A project has at most ${most} agents.`
          : `The setting tidemill.workers allows ${plural(most, 'agent')}. Allow more there to add one.`,
      );
    await api.addWorker({ project });
  });
}

/** For the command palette. A reset loses figures, so it is confirmed. */
async function onPicked(link: Link, operation: 'restart' | 'reset'): Promise<void> {
  if (!(await isTrusted())) return;
  const workers = await act(link, ({ api, project }) => api.workers({ project }));
  if (!workers) return;
  const picked = await vscode.window.showQuickPick(workers.filter(isAgent).map(pickOf), {
    placeHolder: operation === 'restart' ? 'Which agent should restart?' : 'Which agent should be reset?',
  });
  if (!picked) return;
  if (operation === 'reset') {
    const detail = 'Its figures and errors are cleared, its task is released and it starts again. Work is kept.';
    const sure = await vscode.window.showWarningMessage(`Reset ${picked.label}?`, { modal: true, detail }, 'Reset');
    if (!sure) return;
  }
  if (operation === 'restart' && picked.task) {
    const detail = `It works on #${picked.task.number} ${picked.task.title}. That run ends; its work is kept.`;
    const sure = await vscode.window.showWarningMessage(`Restart ${picked.label}?`, { modal: true, detail }, 'Restart');
    if (!sure) return;
  }
  await steer(link, picked.label, operation);
}

const isAgent = ({ role, isOutside }: WorkerView) => !isOutside && (role === 'builder' || role === 'reviewer');
const pickOf = ({ name, status, task }: WorkerView) => ({
  label: name,
  description: task ? `${status}, #${task.number} ${task.title}` : status,
  task,
});

async function recoverStuck(link: Link): Promise<void> {
  if (!(await isTrusted())) return;
  const done = await act(link, ({ api, project, by }) => api.recoverStuck({ project, by }));
  if (!done) return;
  const text = done.tasks.length === 0 ? 'No task is stuck.' : `Released: ${numbers(done.tasks)}.`;
  void sayInfo(text);
}

async function purgeQueue(link: Link): Promise<void> {
  if (!(await isTrusted())) return;
  const open = await act(link, ({ api, project }) => api.tasks({ project, stages: ['open'], limit: 1000 }));
  if (!open) return;
  if (open.length === 0) return void sayInfo('The queue is empty.');
  const shown = open.slice(0, 10).map(({ number, title }) => `#${number} ${title}`);
  const more = open.length > shown.length ? [`and ${open.length - shown.length} more`] : [];
  const detail = [...shown, ...more].join('\n');
  const cancel = `Cancel ${plural(open.length, 'task')}`;
  const question = 'Cancel every task that has not started?';
  if ((await vscode.window.showWarningMessage(question, { modal: true, detail }, cancel)) !== cancel) return;
  const done = await act(link, ({ api, project, by }) => api.purgeQueue({ project, by }));
  if (done) void sayInfo(`${plural(done.tasks.length, 'task')} cancelled.`);
}

const numbers = (tasks: number[]) => tasks.map((number) => `#${number}`).join(', ');
