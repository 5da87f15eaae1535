import {
  type Actor,
  type EventBody,
  engineActor,
  type FeedbackAnalysis,
  type FeedbackItem,
  type FeedbackKind,
  type TaskKind,
} from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { requestedJob, type SubjectPart } from '../subject/part.ts';
import { withdrawnQuestions } from '../subject/questions.ts';
import { createTask } from '../task/create.ts';

/** How often a person is asked about one piece of feedback. After that the analyst files it as well as it can. */
const MOST_ROUNDS = 1;

export function giveFeedback(slice: Slice, command: CommandOf<'feedback.give'>): Decision {
  const project = slice.projects.get(command.projectId);
  if (!project) return refuse('not_found', `there is no project ${command.projectId}`);
  const { feedbackId, by } = command;
  if (slice.record('feedback', feedbackId)) return refuse('conflict', 'that feedback was already given');
  const text = command.text.trim();
  if (text === '') return refuse('bad_input', 'the feedback is empty', 'say what you noticed');
  return accept({ type: 'feedback.given', feedbackId, number: project.nextFeedback, text, by });
}

/** Also after a failure. A call for feedback that is analysed already, or waits for an answer, changes nothing. */
export function analyseFeedback(slice: Slice, command: CommandOf<'feedback.analyse'>, env: DecideEnv): Decision {
  const found = findFeedback(slice, command);
  if ('refusal' in found) return found;
  const { item } = found;
  if (isClosed(item)) return refuse('conflict', `${nameOf(item)} is already ${item.status}`);
  if (item.status === 'asking' || (item.status === 'open' && item.jobId !== null)) return accept();
  return accept(...takenUp(item, command.by, env));
}

/** Makes the task that an analysis describes. A repeated call changes nothing. */
export function fileFeedback(slice: Slice, command: CommandOf<'feedback.file'>): Decision {
  const found = findFeedback(slice, command);
  if ('refusal' in found) return found;
  const { item } = found;
  const { projectId, taskId, linkedTask, linkedSpec } = command;
  if (isClosed(item)) return accept();
  const { analysis } = item;
  if (!analysis || item.status !== 'open') return refuse('wrong_stage', `${nameOf(item)} is not analysed yet`);
  const filed = { type: 'feedback.filed', ...about(item), linkedTask, linkedSpec } as const;
  if (analysis.kind === 'question') return accept({ ...filed, taskNumber: null });
  const created = createTask(slice, {
    type: 'task.create',
    projectId,
    taskId,
    title: analysis.title,
    body: bodyOf(item, analysis, linkedTask),
    kind: TASK_KIND[analysis.kind],
    accept: analysis.criteria,
    files: analysis.files,
    dependsOn: [],
    priority: 2,
    origin: { kind: 'feedback', id: item.id },
  });
  if (!created.ok) return accept({ type: 'feedback.failed', ...about(item), why: created.refusal.message });
  const [task] = created.events;
  return accept(...created.events, { ...filed, taskNumber: task?.type === 'task.created' ? task.number : null });
}

export function dismissFeedback(slice: Slice, command: CommandOf<'feedback.dismiss'>): Decision {
  const found = findFeedback(slice, command);
  if ('refusal' in found) return found;
  const { item } = found;
  const { by, why } = command;
  if (item.status === 'dismissed') return accept();
  if (item.status === 'filed')
    return refuse('conflict', `${nameOf(item)} is already filed`, 'cancel its task if you do not want it');
  const questions = withdrawnQuestions(slice, item.id, 'the feedback was dismissed');
  return accept(...questions, { type: 'feedback.dismissed', ...about(item), by, why });
}

/** What follows from an analysis, and from the answer to its question. */
export const feedbackSubject: SubjectPart<'feedback'> = {
  jobEnded(_slice, item, job, end) {
    if (isClosed(item) || item.jobId !== job.id) return [];
    if ('why' in end) return [{ type: 'feedback.failed', ...about(item), why: end.why }];
    if (end.status === 'asked') return [{ type: 'feedback.asked', ...about(item), rounds: item.rounds + 1 }];
    const { analysis } = end.envelope;
    if (analysis) return [{ type: 'feedback.analysed', ...about(item), analysis }];
    return [{ type: 'feedback.failed', ...about(item), why: 'the analyst returned no analysis' }];
  },
  // It is still open where learned answers come with the questions.
  resumed: (_slice, item, env) =>
    item.status === 'asking' || (item.status === 'open' && item.analysis === null)
      ? takenUp(item, engineActor('answers'), env)
      : [],
  refusesQuestions: ({ rounds }) =>
    rounds < MOST_ROUNDS
      ? null
      : 'The person was already asked once about this feedback. File it with your best judgement; another question is refused.',
};

function takenUp(item: FeedbackItem, by: Actor, env: DecideEnv): EventBody[] {
  const job = requestedJob(env, { subjectId: item.id, mode: 'analyse', input: item.text, by });
  return [{ type: 'feedback.taken_up', ...about(item), jobId: job.jobId }, job];
}

const TASK_KIND: Record<Exclude<FeedbackKind, 'question'>, TaskKind> = {
  bug: 'bug',
  feature: 'feature',
  change: 'improvement',
};

/** The analyst's description, and the person's own words as a quotation. */
function bodyOf({ number, by, text }: FeedbackItem, { body }: FeedbackAnalysis, linked: number | null): string {
  const quoted = text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
  const link = linked === null ? '' : `It is about #${linked}.\n\n`;
  return `${body.trim()}\n\n${link}From feedback F${number} by ${by.name}, in their words:\n\n${quoted}`.trim();
}

const isClosed = ({ status }: FeedbackItem) => status === 'filed' || status === 'dismissed';
const nameOf = ({ number }: FeedbackItem) => `feedback F${number}`;
const about = ({ id: feedbackId, number }: FeedbackItem) => ({ feedbackId, number });

function findFeedback(
  slice: Slice,
  { projectId, feedbackId }: { projectId: string; feedbackId: string },
): { item: FeedbackItem } | (Decision & { ok: false }) {
  const item = slice.record('feedback', feedbackId);
  if (item?.projectId === projectId) return { item };
  return refuse('not_found', `there is no feedback ${feedbackId}`, '`tidemill feedback list` shows it all');
}
