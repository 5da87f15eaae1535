import { hash } from 'node:crypto';
import {
  type Alert,
  AppError,
  type InboxItem,
  type Project,
  type Proposal,
  type QuestionView,
  type RouteRequest,
  Severity,
  type Task,
  withoutTaskName,
} from '@tidemill/contract';
import { severityOf } from '@tidemill/core';
import { executeTogether } from '../../engine/flows/atomic.ts';
import type { Services } from '../context.ts';
import { projectOf } from '../find.ts';
import type { Signed } from '../handler.ts';
import { openQuestions } from '../question/question.ts';
import { actionsOf, actOn } from './alert-actions.ts';
import { humanStages } from './needs-you.ts';

/** Limit of the list. The most urgent items come first. */
const MOST_ITEMS = 500;
const REF_DIGITS = 6;

/** Everything that waits for a person: what blocks work first, then by severity, then by age. */
export async function showInbox(services: Services, input: RouteRequest<'inbox'>): Promise<InboxItem[]> {
  const project = await projectOf(services, input.project);
  const questions = await openQuestions(services, project);
  const asked = new Set(questions.map(({ taskId }) => taskId));
  const tasks = (await standing(services, project)).filter(({ id }) => !asked.has(id));
  const proposals = await services.store.records({ noun: 'proposal', projectId: project.id, isOpen: true });
  const items = [
    ...questions.map(questionItem),
    ...tasks.map(taskItem),
    ...proposals.filter(({ status }) => status === 'waiting').map(proposalItem),
    ...(await openAlerts(services, project)),
  ];
  return items.sort(byPressure).slice(0, MOST_ITEMS);
}

/** Most severe first. */
export async function openAlerts(services: Services, { id: projectId }: Project): Promise<InboxItem[]> {
  const open = await services.store.records({ noun: 'alert', projectId, isOpen: true });
  const ids = [...new Set(open.flatMap(({ taskId }) => taskId ?? []))];
  const tasks = ids.length === 0 ? [] : await services.store.tasks({ projectId, ids });
  const about = new Map(tasks.map((task) => [task.id, task]));
  return open.map((alert) => alertItem(alert, about.get(alert.taskId ?? ''))).sort(byPressure);
}

export async function acknowledge(services: Services, input: Signed<'acknowledge'>) {
  const { id: projectId } = await projectOf(services, input.project);
  const meant = await alertsMeant(services, projectId, input.ref);
  const commands = meant.map(
    ({ id: alertId }) => ({ type: 'alert.acknowledge', projectId, alertId, by: input.by }) as const,
  );
  await executeTogether(services.store, commands);
  return { acknowledged: meant.length };
}

/** Does what the alert proposes. */
export async function actOnAlert(services: Services, input: Signed<'actOnAlert'>) {
  const project = await projectOf(services, input.project);
  const [alert] = await alertsMeant(services, project.id, input.ref);
  return { done: await actOn({ services, project, alert: alert!, by: input.by }, input.action) };
}

/** The open alert of this name, or all. */
async function alertsMeant({ store }: Services, projectId: string, ref: string | undefined): Promise<Alert[]> {
  const open = await store.records({ noun: 'alert', projectId, isOpen: true });
  if (ref === undefined) return open;
  const meant = open.filter((alert) => isMeant(alert, ref));
  if (meant.length === 1) return meant;
  throw new AppError('not_found', `there is no open alert "${ref}"`, {
    hint: /^(q\d|question_)/i.test(ref)
      ? `That is a question: tidemill answer ${ref} "…"`
      : '`tidemill inbox` shows what is open.',
  });
}

export async function listChannels(services: Services, input: RouteRequest<'channels'>) {
  return services.people.channels.views(await projectOf(services, input.project));
}

export async function testChannel(services: Services, input: RouteRequest<'testChannel'>) {
  const reference = await services.people.channels.test(await projectOf(services, input.project), input.channel);
  return { sent: true as const, reference };
}

/** Tasks that need a decision of a person. */
async function standing({ store }: Services, project: Project): Promise<Task[]> {
  const { id: projectId, rules } = project;
  const stages = ['blocked', ...humanStages(project).all];
  const found = await store.tasks({ projectId, stages, limit: MOST_ITEMS });
  return found.filter(
    ({ stage, pipeline }) => stage === 'blocked' || rules.pipelines[pipeline]?.stages[stage]?.actor === 'human',
  );
}

function questionItem(question: QuestionView): InboxItem {
  const { ref, id, effect, holds, type, askedAt, text, context, task, command } = question;
  return {
    ref: ref || id,
    kind: effect.kind === 'approval' ? 'approval' : 'question',
    severity: severityOf(question),
    isBlocking: holds || type === 'blocking',
    at: askedAt,
    title: withoutTaskName(text, task),
    text: context,
    command,
    actions: [],
    task: task && { number: task.number, title: task.title },
  };
}

function taskItem({ number, title, stage, stageSince, blocked }: Task): InboxItem {
  const isChoice = blocked === null || ['no_criteria', 'review_escalation'].includes(blocked.reason);
  return {
    ref: `#${number}`,
    kind: blocked ? 'escalation' : 'approval',
    severity: 'error',
    isBlocking: true,
    at: stageSince,
    task: { number, title },
    title: blocked ? `blocked, ${blocked.reason}` : `${stage} needs your approval`,
    text: blocked?.text ?? '',
    command: `tidemill task ${isChoice ? 'approve' : 'retry'} ${number}`,
    actions: [],
  };
}

function proposalItem({ number, category, createdAt, draft }: Proposal): InboxItem {
  return {
    ref: `p${number}`,
    kind: 'approval',
    severity: 'info',
    isBlocking: false,
    at: createdAt,
    task: null,
    title: `Proposal ${number}, ${category}: ${draft.title}`,
    text: draft.description,
    command: `tidemill loop approve ${number}`,
    actions: [],
  };
}

function alertItem(alert: Alert, task: Task | undefined): InboxItem {
  const { kind, severity, at, text, count } = alert;
  const ref = refOf(alert);
  const actions = actionsOf(alert);
  return {
    ref,
    kind: 'alert',
    severity,
    isBlocking: false,
    at,
    task: task ? { number: task.number, title: task.title } : null,
    title: `${kind.replaceAll('_', ' ')}${count > 1 ? ` (${count} times)` : ''}`,
    text,
    command: actions.length === 0 ? `tidemill inbox ack ${ref}` : `tidemill inbox do ${ref} ${actions[0]!.id}`,
    actions,
  };
}

/** A short name, because an alert's id is long. */
const refOf = ({ id }: Alert) => `a${hash('sha256', id).slice(0, REF_DIGITS)}`;

const isMeant = (alert: Alert, name: string) => alert.id === name || refOf(alert) === name.toLowerCase();

const rank = (severity: Severity) => Severity.options.indexOf(severity);

function byPressure(a: InboxItem, b: InboxItem): number {
  return (
    Number(b.isBlocking) - Number(a.isBlocking) ||
    rank(b.severity) - rank(a.severity) ||
    a.at - b.at ||
    (a.ref < b.ref ? -1 : 1)
  );
}
