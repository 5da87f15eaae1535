import type { Question, RecordOf } from '@tidemill/contract';
import type { EventOf, Reductions } from '../noun.ts';
import type { Slice } from '../slice.ts';
import { changeTask } from '../task-row.ts';

export const questionEvents = {
  'question.asked': (slice, { type, taskId, question }, { projectId, at }) => {
    slice.records.put(question);
    if (taskId === null) {
      const project = slice.projects.get(projectId)!;
      slice.projects.put({ ...project, nextQuestion: project.nextQuestion + 1 });
      return;
    }
    const { id, text, holds, fingerprint } = question;
    changeTask(slice, { type, taskId }, (task) => ({
      asked: { ...task.asked, [fingerprint]: { questionId: id, at } },
      questionCount: task.questionCount + 1,
      openQuestions: holds ? [...task.openQuestions, { id, text }] : task.openQuestions,
    }));
  },
  'question.held': (slice, body) => {
    change(slice, body.questionId, { holds: true });
    changeTask(slice, body, ({ openQuestions }) => ({
      openQuestions: [...openQuestions, { id: body.questionId, text: body.text }],
    }));
  },
  'question.answered': (slice, body) => {
    change(slice, body.questionId, { status: 'answered', answer: body.answer });
    noLongerOpen(slice, body);
  },
  'question.closed': (slice, body) => {
    change(slice, body.questionId, { status: body.status });
    noLongerOpen(slice, body);
  },
  'question.reminded': (slice, { questionId, remindAt }) => {
    const reminders = (slice.record('question', questionId)?.reminders ?? 0) + 1;
    change(slice, questionId, { reminders, remindAt });
  },
  'preference.learned': (slice, body, { projectId, at }) => {
    const { preferenceId: id, fingerprint, text, answer, count, isActive, hadOptions } = body;
    const row: RecordOf<'preference'> = {
      noun: 'preference',
      id,
      projectId,
      fingerprint,
      text,
      answer,
      count,
      isActive,
      hadOptions,
      learnedAt: at,
      revokedBy: null,
    };
    slice.records.put(row);
  },
  'preference.revoked': (slice, { preferenceId, by }) => {
    const preference = slice.record('preference', preferenceId);
    if (preference) slice.records.put({ ...preference, isActive: false, count: 0, revokedBy: by });
  },
} satisfies Reductions;

function change(slice: Slice, questionId: string, changed: Partial<Question>): void {
  const question = slice.record('question', questionId);
  if (question) slice.records.put({ ...question, ...changed });
}

function noLongerOpen(
  slice: Slice,
  { type, taskId, questionId }: EventOf<'question.answered' | 'question.closed'>,
): void {
  if (taskId === null) return;
  changeTask(slice, { type, taskId }, ({ openQuestions }) => ({
    openQuestions: openQuestions.filter(({ id }) => id !== questionId),
  }));
}
