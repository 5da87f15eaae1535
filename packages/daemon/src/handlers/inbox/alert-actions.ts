import { type Actor, type Alert, AppError, type InboxAction, type Project, type Task } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import { executeTogether } from '../../engine/flows/atomic.ts';
import { restartWorker } from '../../engine/flows/restart.ts';
import type { Services } from '../context.ts';
import { createTask, creationOf } from '../task/create.ts';

interface Acting {
  services: Services;
  project: Project;
  alert: Alert;
  by: Actor;
}

interface AlertAction extends InboxAction {
  /** Returns what happened. */
  act(acting: Acting): Promise<string>;
}

const MOST_BEHIND = 1000;

/** What a person can do about an alert besides acknowledging it. The alert closes by itself when it helped. */
const ACTIONS: Record<string, AlertAction[]> = {
  stuck: [{ id: 'restart', label: 'Restart the worker', act: restart }],
  all_failed: [{ id: 'pause', label: 'Pause all agents', act: pauseAll }],
  error_rate: [{ id: 'restart', label: 'Restart the worker', act: restartNamed }],
  baseline_red: [{ id: 'repair', label: 'Add a repair task', act: repair }],
  dependency_cancelled: [
    { id: 'retry', label: 'Start it again', act: retryDependency },
    { id: 'drop', label: 'Go on without it', act: dropDependency },
    { id: 'cancel', label: 'Cancel the waiting tasks', act: cancelWaiting },
  ],
};
ACTIONS.dependency_blocked = ACTIONS.dependency_cancelled!;

export const actionsOf = ({ kind }: Pick<Alert, 'kind'>): InboxAction[] =>
  (ACTIONS[kind] ?? []).map(({ id, label }) => ({ id, label }));

export async function actOn(acting: Acting, action: string): Promise<string> {
  const known = ACTIONS[acting.alert.kind] ?? [];
  const chosen = known.find(({ id }) => id === action);
  if (chosen) return chosen.act(acting);
  throw new AppError('bad_input', `there is no action "${action}" for this alert`, {
    hint:
      known.length === 0
        ? 'It can only be acknowledged.'
        : `Use ${known.map(({ id, label }) => `${id} (${label})`).join(', ')}.`,
  });
}

async function restart({ services: { store }, alert, by }: Acting): Promise<string> {
  const task = alert.taskId ? await store.task(alert.taskId) : null;
  const worker = (await store.workers(alert.projectId)).find(({ id }) => id === task?.lease?.workerId);
  if (!task || !worker) throw over(`${alert.subject} is no longer in progress`);
  await restartWorker(store, worker, { by, isReset: false });
  return `${worker.name} was restarted. #${task.number} continues; its work is kept.`;
}

async function restartNamed({ services: { store }, alert, by }: Acting): Promise<string> {
  const worker = (await store.workers(alert.projectId)).find(({ name }) => name === alert.subject);
  if (!worker) throw over(`${alert.subject} no longer exists`);
  await restartWorker(store, worker, { by, isReset: false });
  return `${worker.name} was restarted.`;
}

async function pauseAll({ services: { store }, project: { id: projectId }, by }: Acting): Promise<string> {
  const running = (await store.workers(projectId)).filter(({ desired }) => desired === 'running');
  const commands = running.map(
    ({ id: workerId }): Command => ({ type: 'worker.steer', projectId, workerId, desired: 'paused', by }),
  );
  await executeTogether(store, commands);
  return 'All agents are paused. Let them work with `tidemill resume`.';
}

async function repair({ services, project, alert }: Acting): Promise<string> {
  const { target, gates: known } = project.rules;
  // One that was removed from the settings since needs no repair.
  const gates = alert.subject.split(', ').filter((gate) => known.includes(gate));
  if (gates.length === 0) throw over(`the gates ${alert.subject} no longer exist`);
  const title = `Repair ${target}: ${gates.join(', ')}`;
  const { store, ids } = services;
  const same = await store.tasks({ projectId: project.id, search: title, limit: 20 });
  const open = same.find((task) => task.title === title && task.stage !== 'done' && task.stage !== 'cancelled');
  if (open) throw over(`#${open.number} repairs this already`);
  const command = creationOf(project.id, ids.next('task'), [], {
    title,
    body: alert.text,
    kind: 'bug',
    accept: gates.map((gate) => `The gate ${gate} passes on ${target}`),
    files: [],
    priority: 0,
    repairs: gates,
  });
  const { number } = await createTask(services, command, undefined);
  return `#${number} was added. It repairs ${gates.join(', ')}.`;
}

async function retryDependency({ services: { store }, project, alert, by }: Acting): Promise<string> {
  const dependency = await dependencyOf(store, alert);
  await executeTogether(store, [{ type: 'task.retry', projectId: project.id, taskId: dependency.id, by }]);
  return `#${dependency.number} was started again.`;
}

async function dropDependency({ services: { store }, project, alert }: Acting): Promise<string> {
  const dependency = await dependencyOf(store, alert);
  const waiting = await waitingFor(store, dependency);
  const commands = waiting.map(({ id: taskId, dependsOn }): Command => {
    const rest = dependsOn.filter((id) => id !== dependency.id);
    return { type: 'task.set_dependencies', projectId: project.id, taskId, dependsOn: rest };
  });
  await executeTogether(store, commands);
  return `${numbersOf(waiting)} no longer ${waiting.length === 1 ? 'waits' : 'wait'} for #${dependency.number}.`;
}

async function cancelWaiting({ services: { store }, project, alert, by }: Acting): Promise<string> {
  const waiting = await waitingFor(store, await dependencyOf(store, alert));
  const commands = waiting.map(
    ({ id: taskId }): Command => ({ type: 'task.cancel', projectId: project.id, taskId, by }),
  );
  await executeTogether(store, commands);
  return `${numbersOf(waiting)} ${waiting.length === 1 ? 'was' : 'were'} cancelled.`;
}

type TaskStore = Services['store'];

async function dependencyOf(store: TaskStore, { taskId, subject }: Alert): Promise<Task> {
  const task = taskId ? await store.task(taskId) : null;
  if (!task || !['cancelled', 'blocked'].includes(task.stage)) throw over(`${subject} continues`);
  return task;
}

async function waitingFor(store: TaskStore, { id, projectId, number }: Task): Promise<Task[]> {
  const waiting = await store.tasks({ projectId, stages: ['open'], waitingFor: [id], limit: MOST_BEHIND });
  if (waiting.length === 0) throw over(`no task waits for #${number}`);
  return waiting;
}

const numbersOf = (tasks: Task[]) => tasks.map(({ number }) => `#${number}`).join(', ');

const over = (what: string) =>
  new AppError('conflict', `${what}, so there is nothing to do`, { hint: 'The alert closes within a minute.' });
