import {
  type Actor,
  type Answer,
  DELIVERY_ANSWERS,
  type EventBody,
  engineActor,
  type Project,
  type Question,
  type Task,
} from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { afterAnswer } from '../subject-parts.ts';
import { openQuestionsOf, preferencesOf } from './ask.ts';
import { criteriaAnswered, USE_THESE } from './criteria.ts';
import { APPROVE, effectOf, SEND_BACK } from './effect.ts';
import { questionFingerprint } from './learned.ts';
import { LEARNED_AFTER, TAKES_DEFAULT } from './life.ts';
import { answerNote, wholeAnswer } from './note.ts';

const LONGEST_ANSWER = 20_000;

export function answerQuestion(slice: Slice, command: CommandOf<'question.answer'>, env: DecideEnv): Decision {
  const found = findQuestion(slice, command);
  if (!found.ok) return found;
  const { question, project } = found;
  if (question.status !== 'open') return closedAlready(question);
  if (!mayDecide(question, command.by) || (command.source !== 'user' && isForPeopleOnly(question)))
    return refuse('forbidden', onlyPeople(question));
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
  return accept(...answered(slice, project, question, answer, env));
}

/** What a merge dropped of the target, a pull request, and what is delivered: nothing but a person's own answer decides. */
const isForPeopleOnly = ({ effect }: Question) =>
  effect.kind === 'delivery' || (effect.kind === 'approval' && (effect.losses ?? effect.pull) !== undefined);
/** A token is a person's way to use Tidemill from elsewhere. */
export const mayDecide = (question: Question, { kind }: Actor): boolean =>
  !isForPeopleOnly(question) || kind === 'person' || kind === 'token';
export const onlyPeople = ({ effect }: Question): string =>
  effect.kind === 'delivery'
    ? 'only a person may decide about a delivery'
    : effect.kind === 'approval' && effect.pull !== undefined
      ? 'only a person may decide what is pushed or merged'
      : 'only a person may decide that changes of the target are dropped';

const YES = /^(y|yes|ok|okay|approved?|lgtm)[.!]?$/i;
const NO = /^(n|no|rejected|reject)[.!]?$/i;

/** The option that matches the text, ignoring case. For an approval also yes or no, for proposed criteria also yes. */
function matchingOption({ options, effect }: Question, text: string): string | null {
  const label = options.find((each) => each.label.toLowerCase() === text.toLowerCase())?.label;
  if (label !== undefined) return label;
  if (effect.kind === 'criteria') return YES.test(text) && effect.proposed.length > 0 ? USE_THESE : null;
  if (effect.kind === 'delivery' && effect.about === 'approval')
    return YES.test(text) ? DELIVERY_ANSWERS.approve : NO.test(text) ? DELIVERY_ANSWERS.decline : null;
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
  const answer: Answer = { text, option, source, by: engineActor('time'), at: env.now };
  return accept(...answered(slice, project, question, answer, env));
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
  return holdingOf(slice, task).flatMap((question) => {
    const option = question.effect.kind === 'criteria' ? matchingOption(question, text) : null;
    const answer: Answer = { text: option ?? text, option, source: 'user', by, at: env.now };
    const answered: EventBody = { type: 'question.answered', taskId: task.id, questionId: question.id, answer };
    return question.effect.kind === 'criteria'
      ? [answered, ...criteriaAnswered(task, question.effect, answer)]
      : [answered];
  });
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
export function answered(
  slice: Slice,
  project: Project,
  question: Question,
  answer: Answer,
  env: DecideEnv,
): EventBody[] {
  const { id: questionId, taskId } = question;
  const task = taskId === null ? undefined : slice.tasks.get(taskId);
  const event: EventBody = { type: 'question.answered', taskId, questionId, answer };
  const events = [event, ...learned(slice, question, answer, env.hash)];
  if (!task) return [...events, ...afterAnswer(slice, question, answer, env)];
  return [
    ...events,
    answerNote(task, question, answer),
    ...(question.effect.kind === 'none' ? wholeAnswer(task, question, answer) : []),
    ...effectOf(slice, project, task, question, answer),
  ];
}

/** An answer becomes a default after two equal answers, or after one for a preference. */
function learned(slice: Slice, question: Question, answer: Answer, hash: DecideEnv['hash']): EventBody[] {
  const isOfInterest = question.type !== 'celebratory' && question.effect.kind === 'none';
  if (answer.source !== 'user' || !isOfInterest) return [];
  const { projectId, text } = question;
  const fingerprint = questionFingerprint(text, hash);
  const before = preferencesOf(slice, projectId).find((each) => questionFingerprint(each.text, hash) === fingerprint);
  const preferenceId = before?.id ?? `preference/${projectId}/${fingerprint}`;
  const count = before?.answer === answer.text ? before.count + 1 : 1;
  const isActive = question.type === 'preference' || count >= LEARNED_AFTER;
  const hadOptions = question.options.length > 0;
  const learnt = { fingerprint, text, answer: answer.text, count, isActive, hadOptions };
  return [{ type: 'preference.learned', preferenceId, ...learnt }];
}

type Found = { ok: true; question: Question; project: Project } | Extract<Decision, { ok: false }>;

interface AboutQuestion {
  projectId: string;
  questionId: string;
  taskId: string | null;
  subjectId?: string | null;
}

function findQuestion(slice: Slice, command: AboutQuestion): Found {
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
  if (question.subjectId !== (command.subjectId ?? null))
    return refused('conflict', `${question.ref} is not about ${command.subjectId ?? 'the project'}`);
  return { ok: true, question, project };
}

function closedAlready({ status, answer }: Question): Decision {
  if (status === 'answered' && answer)
    return refuse('already_answered', `${answer.by.name} has already answered that: "${answer.text.slice(0, 200)}"`);
  return refuse('already_answered', `that question was ${status} and needs no answer`);
}
