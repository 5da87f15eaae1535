import { createHash } from 'node:crypto';
import type { Alert, Project, Question, Severity, Task } from '@tidemill/contract';
import { GATHER_MS, type NewNotification, severityOf } from '@tidemill/core';

/** Something to notify people about, before its channels are known. */
export interface Matter {
  /** The same matter always has the same key. */
  key: string;
  about: string;
  group: string;
  severity: Severity;
  taskId: string | null;
  title: string;
  text: string;
  questionIds: string[];
  /** How long it waits for others, to be sent with them. */
  waitMs: number;
}

const TEXT_LIMIT = 2000;
const NOTICES = 'notices';

export function aboutQuestion(question: Question, reminderAt: number | null): Matter {
  const about = `${reminderAt === null ? 'question' : 'reminder'}/${question.id}`;
  const title = `${reminderAt === null ? '' : 'Still open: '}${TITLES[question.type]}`;
  return {
    key: reminderAt === null ? about : `${about}/${reminderAt}`,
    about,
    group: question.batchId,
    severity: severityOf(question),
    taskId: question.taskId,
    title: question.ref === '' ? title : `${title} (${question.ref})`,
    text: question.text.slice(0, TEXT_LIMIT),
    questionIds: [question.id],
    waitMs: 0,
  };
}

const TITLES: Record<Question['type'], string> = {
  blocking: 'A question blocks work',
  clarifying: 'A question',
  confirming: 'Please confirm',
  educational: 'Good to know',
  celebratory: 'Good news',
  preference: 'What do you prefer?',
};

export function aboutAlert(
  alert: Pick<Alert, 'id' | 'at' | 'severity' | 'kind' | 'text'>,
  taskId: string | null,
): Matter {
  return {
    ...notice(alert.severity, taskId, alert.kind.replaceAll('_', ' '), alert.text),
    key: `${alert.id}/${alert.at}`,
    about: alert.id,
  };
}

/** A task that waits until a person acts: blocked, or in a stage with the actor `human`. */
export function aboutTask(task: Task): Matter {
  const why = task.blocked
    ? `${task.blocked.reason}: ${task.blocked.text}`
    : `waits for your approval in ${task.stage}`;
  const isConflict = task.blocked?.reason === 'conflict';
  const command = isConflict ? 'conflicts show' : task.blocked ? 'task retry' : 'task approve';
  return {
    ...notice(
      'error',
      task.id,
      `#${task.number} ${task.title} needs you`,
      `${why}\ntidemill ${command} ${task.number}`,
    ),
    key: `task/${task.id}/${task.stage}/${task.stageSince}`,
    about: `task/${task.id}`,
  };
}

function notice(severity: Severity, taskId: string | null, title: string, text: string) {
  return {
    severity,
    taskId,
    group: NOTICES,
    questionIds: [],
    waitMs: severity === 'critical' ? 0 : GATHER_MS,
    title: title.slice(0, TEXT_LIMIT),
    text: text.slice(0, TEXT_LIMIT),
  };
}

/** Its id is computed from the matter and the channel, so the same matter gives the same notification. */
export function notificationOf(project: Project, channel: string, matter: Matter, nextAt: number): NewNotification {
  const { key, waitMs: _, ...rest } = matter;
  const hash = createHash('sha256').update(`${project.id}\n${channel}\n${key}`).digest('hex');
  return { id: `notice_${hash.slice(0, 24)}`, channel, nextAt, ...rest };
}
