import type { Answer, EventBody, Project, Question, Task } from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { interruptRun, released } from '../lease/lease.ts';
import { enter } from '../pipeline/enter.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { LEARNED_AFTER } from './life.ts';

const LONGEST_ANSWER = 20_000;
export const APPROVE = 'Approve';
export const SEND_BACK = 'Send back';
export const STUCK_CHOICES = { wait: 'Wait', skip: 'Skip', retry: 'Retry' } as const;

export function answerQuestion(slice: Slice, command: CommandOf<'question.answer'>, env: DecideEnv): Decision {
  const found = findQuestion(slice, command);
  if (!found.ok) return found;
  const { question, project } = found;
  if (question.status !== 'open') return closedAlready(question);
  const text = command.text.trim();
  if (text === '') return refuse('bad_input', 'an answer needs a text', 'say what you decide');
  if (text.length > LONGEST_ANSWER)
    return refuse('bad_input', `an answer has at most ${LONGEST_ANSWER} characters; this one has ${text.length}`);
  const option = question.options.find(({ label }) => label.toLowerCase() === text.toLowerCase())?.label ?? null;
  if (option === null && !question.allowFreeText && question.options.length > 0) {
    const labels = question.options.map(({ label }) => `"${label}"`).join(', ');
    return refuse('bad_input', `"${text.slice(0, 100)}" is none of the options`, `choose one of ${labels}`);
  }
  const answer: Answer = { text: option ?? text, option, source: command.source, by: command.by, at: env.now };
  return accept(...answered(slice, project, question, answer));
}

/** Its time is up: its default is the answer, or nobody needs to know any more. */
export function expireQuestion(slice: Slice, command: CommandOf<'question.expire'>, env: DecideEnv): Decision {
  const found = findQuestion(slice, command);
  if (!found.ok) return found;
  const { question, project } = found;
  if (question.status !== 'open') return accept();
  if (question.expiresAt === null || env.now < question.expiresAt)
    return refuse('conflict', 'that question still has time');
  const text = question.defaultAnswer ?? (question.holds ? 'Nobody answered: use your own judgement.' : null);
  if (text === null) {
    const why = 'nobody answered in time';
    return accept({
      type: 'question.closed',
      taskId: question.taskId,
      questionId: question.id,
      status: 'dismissed',
      why,
    });
  }
  const option = question.options.find(({ label }) => label === text)?.label ?? null;
  const source = question.type === 'clarifying' || question.type === 'preference' ? 'default' : 'timeout';
  return accept(...answered(slice, project, question, { text, option, source, by: 'time', at: env.now }));
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

/** Every open question of a task gets the same answer: a person said one thing for all of them. */
export function answerAll(slice: Slice, task: Task, text: string, by: string, env: DecideEnv): EventBody[] {
  const answer: Answer = { text, option: null, source: 'user', by, at: env.now };
  return task.openQuestions.flatMap(({ id }) =>
    slice.record('question', id)?.status === 'open'
      ? [{ type: 'question.answered' as const, taskId: task.id, questionId: id, answer }]
      : [],
  );
}

/** The task is going where its questions no longer matter. */
export function withdrawAll(slice: Slice, task: Task, why: string): EventBody[] {
  return slice
    .recordsOf('question', task.projectId)
    .filter((question) => question.taskId === task.id && question.status === 'open')
    .map(({ id }) => ({ type: 'question.closed', taskId: task.id, questionId: id, status: 'withdrawn', why }));
}

function answered(slice: Slice, project: Project, question: Question, answer: Answer): EventBody[] {
  const { id: questionId, taskId } = question;
  const task = taskId === null ? undefined : slice.tasks.get(taskId);
  return [
    { type: 'question.answered', taskId, questionId, answer },
    ...learned(slice, question, answer),
    ...(task ? [noteOf(task, question, answer), ...effectOf(slice, project, task, question, answer)] : []),
  ];
}

function noteOf(task: Task, question: Question, answer: Answer): EventBody {
  const who = answer.source === 'user' ? '' : ` (${answer.source})`;
  const summary = `Asked: ${question.text.slice(0, 900)}\nAnswer${who}: ${answer.text.slice(0, 1000)}`;
  const entry = { runId: question.runId, source: 'person' as const, entryType: 'answer', summary, at: answer.at };
  return { type: 'task.noted', taskId: task.id, entry };
}

/** What a person says twice, or says of their own taste once, is taken for granted from then on. */
function learned(slice: Slice, question: Question, answer: Answer): EventBody[] {
  if (answer.source !== 'user' || question.effect.kind !== 'none') return [];
  const { projectId, fingerprint, text } = question;
  const id = `preference/${projectId}/${fingerprint}`;
  const before = slice.record('preference', id);
  const count = before?.answer === answer.text ? before.count + 1 : 1;
  const isActive = question.type === 'preference' || count >= LEARNED_AFTER;
  return [{ type: 'preference.learned', preferenceId: id, fingerprint, text, answer: answer.text, count, isActive }];
}

function effectOf(slice: Slice, project: Project, task: Task, question: Question, answer: Answer): EventBody[] {
  if (question.effect.kind === 'stuck') return stuckChoice(slice, project, task, answer);
  const events: EventBody[] = [];
  let resume = task.resumeStage ?? task.stage;
  if (question.effect.kind === 'approval') {
    const { matters, sendBackTo } = question.effect;
    if (answer.option === APPROVE) {
      events.push({ type: 'task.matter_approved', taskId: task.id, matters, by: answer.by });
    } else {
      resume = sendBackTo;
      const feedback = [{ kind: 'person' as const, text: answer.text, files: [] }];
      events.push({ type: 'task.feedback_given', taskId: task.id, feedback });
    }
  }
  const rest = task.openQuestions.filter(({ id }) => id !== question.id);
  if (task.stage !== 'needs_info') return events;
  if (rest.length === 0) return [...events, ...enter(slice, project.rules, task, { to: resume, because: 'answered' })];
  if (resume === task.resumeStage) return events;
  return [...events, { type: 'task.parked', taskId: task.id, from: resume, questions: rest.map(({ text }) => text) }];
}

/** A person's word on a task that makes no progress. */
function stuckChoice(slice: Slice, project: Project, task: Task, { option, text, by }: Answer): EventBody[] {
  if (task.lease === null || option === STUCK_CHOICES.wait) return [];
  const why = `${by} said: ${text}`;
  const stop = [...interruptRun(slice, task, why), released(task, why)];
  if (option !== STUCK_CHOICES.skip) return stop;
  const block = { reason: 'skipped' as const, text: `${why}. Its work is kept; retry it when you like.` };
  return [...stop, ...enter(slice, project.rules, task, { to: 'blocked', because: why, block })];
}

type Found = { ok: true; question: Question; project: Project } | Extract<Decision, { ok: false }>;

function findQuestion(slice: Slice, command: { projectId: string; questionId: string }): Found {
  const project = slice.projects.get(command.projectId);
  const question = slice.record('question', command.questionId);
  if (project && question?.projectId === project.id) return { ok: true, question, project };
  return {
    ok: false,
    refusal: { code: 'not_found', message: `there is no question ${command.questionId} in this project`, hint: '' },
  };
}

function closedAlready({ status, answer }: Question): Decision {
  if (status === 'answered' && answer)
    return refuse('already_answered', `${answer.by} has answered that already: "${answer.text.slice(0, 200)}"`);
  return refuse('already_answered', `that question was ${status}; nobody waits for it any more`);
}
