import { type LoggedEvent, type Project, REACTORS, type Task } from '@tidemill/contract';
import { alertId } from '@tidemill/core';
import type { Store } from '../ports.ts';
import { aboutAlert, aboutQuestion, aboutTask, type Matter } from './matter.ts';

/** Budgets raise alerts, so this list is complete. */
export const FOLLOWED = REACTORS.notifications.on;
/** The cause of an older alert is over, or has raised another alert. */
const OLDEST_ALERT_MS = 24 * 3_600_000;
const MOST_TASKS = 500;

/** The matters that follow from an event in the current state. */
export async function matterOf(store: Store, project: Project, { at, body }: LoggedEvent): Promise<Matter | null> {
  switch (body.type) {
    case 'question.asked':
    case 'question.reminded': {
      const isAsked = body.type === 'question.asked';
      const question = await store.record('question', isAsked ? body.question.id : body.questionId);
      // A learned default may have answered it at the same time.
      return question?.status === 'open' ? aboutQuestion(question, isAsked ? null : at) : null;
    }
    case 'alert.raised': {
      const { kind, subject, severity, text, taskId } = body;
      return aboutAlert({ id: alertId(project.id, kind, subject), at, severity, kind, text }, taskId);
    }
    case 'task.blocked':
    case 'task.moved': {
      const task = await store.task(body.taskId);
      return task && (await needsPerson(store, project, task)) ? aboutTask(task) : null;
    }
    default:
      return null;
  }
}

/** Everything that is open and may not be queued yet. */
export async function* openMatters(store: Store, project: Project, now: number): AsyncGenerator<Matter> {
  const projectId = project.id;
  for (const question of await store.records({ noun: 'question', projectId, isOpen: true }))
    yield aboutQuestion(question, null);
  for (const alert of await store.records({ noun: 'alert', projectId, isOpen: true }))
    if (now - alert.at < OLDEST_ALERT_MS) yield aboutAlert(alert, alert.taskId);
  const stages = Object.values(project.rules.pipelines).flatMap((pipeline) => Object.entries(pipeline.stages));
  const human = stages.flatMap(([name, { actor }]) => (actor === 'human' ? [name] : []));
  for (const task of await store.tasks({ projectId, stages: [...new Set(['blocked', ...human])], limit: MOST_TASKS }))
    if (await needsPerson(store, project, task)) yield aboutTask(task);
}

/** A task with a question needs no second notification. */
export async function needsPerson(store: Store, project: Project, { id, stage, pipeline }: Task): Promise<boolean> {
  const isHuman = project.rules.pipelines[pipeline]?.stages[stage]?.actor === 'human';
  if (stage !== 'blocked' && !isHuman) return false;
  return (await store.records({ noun: 'question', parent: id, isOpen: true, limit: 1 })).length === 0;
}
