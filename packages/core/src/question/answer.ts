import {
  type Actor,
  type Answer,
  type EventBody,
  engineActor,
  type Project,
  type Question,
  type Task,
} from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { openQuestionsOf, preferencesOf } from './ask.ts';
import { APPROVE, effectOf, SEND_BACK } from './effect.ts';
import { LEARNED_AFTER, TAKES_DEFAULT } from './life.ts';
import { answerNote, wholeAnswer } from './note.ts';

const LONGEST_ANSWER = 20_000;

export function answerQuestion(slice: Slice, command: CommandOf<'question.answer'>, env: DecideEnv): Decision {
  const found = findQuestion(slice, command);
  if (!found.ok) return found;
  const { question, project } = found;
  if (question.status !== 'open') return closedAlready(question);
  const text = command.text.trim();
  if (text === '') return refuse('bad_input', 'the answer is empty', 'write your decision');
  if (text.length > LONGEST_ANSWER)
    return refuse('bad_input', `an answer has at most ${LONGEST_ANSWER} characters; this one has ${text.length}`);
  const option = matchingOption(question, text);
  if (option === null && !question.allowFreeText && question.options.length > 0) {
    const labels = question.options.map(({ label }) => `"${label}"`).join(', ');
    return refuse('bad_input', `"${text.slice(0, 100)}" is not one of the options`, `choose one of ${labels}`);
  }
  const answer: Answer = { text: option ?? text, option, source: command.source, by: command.by, at: env.now };
  return accept(...answered(slice, project, question, answer));
}

const YES = /^(y|yes|ok|okay|approved?|lgtm)[.!]?$/i;
const NO = /^(n|no|rejected|reject)[.!]?$/i;

/** The option that matches the text, ignoring case. For an approval also yes or no. */
function matchingOption({ options, effect }: Question, text: string): string | null {
  const label = options.find((each) => each.label.toLowerCase() === text.toLowerCase())?.label;
  if (label !== undefined) return label;
  if (effect.kind !== 'approval') return null;
  return YES.test(text) ? APPROVE : NO.test(text) ? SEND_BACK : null;
}

/** The question expired: its default becomes the answer, or it is dismissed. */
export function expireQuestion(slice: Slice, command: CommandOf<'question.expire'>, env: DecideEnv): Decision {
  const found = findQuestion(slice, command);
  if (!found.ok) return found;
  const { question, project } = found;
  const { taskId, id: questionId, type, holds, defaultAnswer } = question;
  if (question.status !== 'open') return accept();
  if (question.expiresAt === null || env.now < question.expiresAt)
    return refuse('conflict', 'that question has not expired');
  const text = holds
    ? (defaultAnswer ?? 'There was no answer: use your own judgement.')
    : TAKES_DEFAULT.includes(type)
      ? defaultAnswer
      : null;
  if (text === null) {
    const why = type === 'celebratory' ? 'acknowledged' : 'nobody answered in time';
    return accept({ type: 'question.closed', taskId, questionId, status: 'dismissed', why });
  }
  const option = question.options.find(({ label }) => label === text)?.label ?? null;
  const source = type === 'clarifying' || type === 'preference' ? 'default' : 'timeout';
  return accept(...answered(slice, project, question, { text, option, source, by: engineActor('time'), at: env.now }));
}

export function remindOfQuestion(slice: Slice, command: CommandOf<'question.remind'>, env: DecideEnv): Decision {
  const found = findQuestion(slice, command);
  if (!found.ok) return found;
  const { question } = found;
  if (question.status !== 'open' || question.remindAt === null || env.now < question.remindAt) return accept();
  const remindAt = question.remindEveryMs === null ? null : env.now + question.remindEveryMs;
  return accept({ type: 'question.reminded', taskId: question.taskId, questionId: question.id, remindAt });
}

export function revokePreference(slice: Slice, command: CommandOf<'preference.revoke'>): Decision {
  const preference = slice.record('preference', command.preferenceId);
  if (preference?.projectId !== command.projectId)
    return refuse('not_found', `there is no learned default ${command.preferenceId}`);
  if (!preference.isActive) return accept();
  return accept({ type: 'preference.revoked', preferenceId: preference.id, by: command.by });
}

/** Gives every open question that holds the task the same answer. */
export function answerAll(slice: Slice, task: Task, text: string, by: Actor, env: DecideEnv): EventBody[] {
  const answer: Answer = { text, option: null, source: 'user', by, at: env.now };
  return holdingOf(slice, task).map(({ id }) => ({
    type: 'question.answered',
    taskId: task.id,
    questionId: id,
    answer,
  }));
}

/** The task moves to a stage where its questions no longer matter. */
export function withdrawAll(slice: Slice, task: Task, why: string): EventBody[] {
  return openQuestionsOf(slice, task.id).map((question) => withdrawn(question, why));
}

/** The task continues without the answers it waited for. */
export function withdrawHolding(slice: Slice, task: Task, why: string): EventBody[] {
  return holdingOf(slice, task).map((question) => withdrawn(question, why));
}

/** What a person must approve before the task continues. At most one approval is open. */
export function openApproval(slice: Slice, task: Task) {
  const question = holdingOf(slice, task).find(({ effect }) => effect.kind === 'approval');
  return question?.effect.kind === 'approval' ? { question, ...question.effect } : null;
}

function holdingOf(slice: Slice, task: Task): Question[] {
  return task.openQuestions.flatMap(({ id }) => {
    const question = slice.openRecord('question', id);
    return question?.status === 'open' ? [question] : [];
  });
}

export function withdrawn({ id: questionId, taskId }: Question, why: string): EventBody {
  return { type: 'question.closed', taskId, questionId, status: 'withdrawn', why };
}

/** An answer and its effects. */
export function answered(slice: Slice, project: Project, question: Question, answer: Answer): EventBody[] {
  const { id: questionId, taskId } = question;
  const task = taskId === null ? undefined : slice.tasks.get(taskId);
  const event: EventBody = { type: 'question.answered', taskId, questionId, answer };
  const events = [event, ...learned(slice, question, answer)];
  if (!task) return events;
  return [
    ...events,
    answerNote(task, question, answer),
    ...(question.effect.kind === 'none' ? wholeAnswer(task, question, answer) : []),
    ...effectOf(slice, project, task, question, answer),
  ];
}

/** An answer becomes a default after two equal answers, or after one for a preference. */
function learned(slice: Slice, question: Question, answer: Answer): EventBody[] {
  const isOfInterest = question.type !== 'celebratory' && question.effect.kind === 'none';
  if (answer.source !== 'user' || !isOfInterest) return [];
  const { projectId, fingerprint, text } = question;
  const id = `preference/${projectId}/${fingerprint}`;
  const before = preferencesOf(slice, projectId).find((preference) => preference.id === id);
  const count = before?.answer === answer.text ? before.count + 1 : 1;
  const isActive = question.type === 'preference' || count >= LEARNED_AFTER;
  return [{ type: 'preference.learned', preferenceId: id, fingerprint, text, answer: answer.text, count, isActive }];
}

type Found = { ok: true; question: Question; project: Project } | Extract<Decision, { ok: false }>;

function findQuestion(slice: Slice, command: { projectId: string; questionId: string; taskId: string | null }): Found {
  const project = slice.projects.get(command.projectId);
  const question = slice.record('question', command.questionId);
  const refused = (code: 'not_found' | 'conflict', message: string): Found => ({
    ok: false,
    refusal: { code, message, hint: '' },
  });
  if (!project || question?.projectId !== project.id)
    return refused('not_found', `there is no question ${command.questionId} in this project`);
  // The task's rows are loaded only when the command names the task.
  if (question.taskId !== command.taskId)
    return refused('conflict', `${question.ref} is not about ${command.taskId ?? 'the project'}`);
  return { ok: true, question, project };
}

function closedAlready({ status, answer }: Question): Decision {
  if (status === 'answered' && answer)
    return refuse('already_answered', `${answer.by.name} has already answered that: "${answer.text.slice(0, 200)}"`);
  return refuse('already_answered', `that question was ${status} and needs no answer`);
}
