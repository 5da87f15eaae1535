import type { EventBody, Task } from '@tidemill/contract';
import type { Slice } from '../slice.ts';

/** The rows of questions and learned defaults after an event. */
export function reduceQuestion(slice: Slice, projectId: string, at: number, body: EventBody): void {
  switch (body.type) {
    case 'question.asked': {
      slice.records.put(body.question);
      const project = body.taskId === null ? slice.projects.get(projectId) : undefined;
      if (project) slice.projects.put({ ...project, nextQuestion: project.nextQuestion + 1 });
      return;
    }
    case 'question.held': {
      const question = slice.record('question', body.questionId);
      if (question) slice.records.put({ ...question, holds: true });
      return;
    }
    case 'question.answered': {
      const question = slice.record('question', body.questionId);
      if (question) slice.records.put({ ...question, status: 'answered', answer: body.answer });
      return;
    }
    case 'question.closed': {
      const question = slice.record('question', body.questionId);
      if (question) slice.records.put({ ...question, status: body.status });
      return;
    }
    case 'question.reminded': {
      const question = slice.record('question', body.questionId);
      if (question) slice.records.put({ ...question, reminders: question.reminders + 1, remindAt: body.remindAt });
      return;
    }
    case 'preference.learned': {
      const { preferenceId: id, fingerprint, text, answer, count, isActive } = body;
      slice.records.put({
        ...{ noun: 'preference', id, projectId, fingerprint, text, answer, count, isActive },
        ...{ learnedAt: at, revokedBy: null },
      });
      return;
    }
    case 'preference.revoked': {
      const preference = slice.record('preference', body.preferenceId);
      if (preference) slice.records.put({ ...preference, isActive: false, count: 0, revokedBy: body.by });
      return;
    }
    default:
      return;
  }
}

/** What a question changes in its task. */
export function taskAfterQuestion(
  task: Task,
  at: number,
  body: Extract<EventBody, { type: 'question.asked' | 'question.held' | 'question.answered' | 'question.closed' }>,
): Partial<Task> {
  if (body.type === 'question.held')
    return { openQuestions: [...task.openQuestions, { id: body.questionId, text: body.text }] };
  if (body.type !== 'question.asked')
    return { openQuestions: task.openQuestions.filter(({ id }) => id !== body.questionId) };
  const { id, text, holds, fingerprint } = body.question;
  return {
    asked: { ...task.asked, [fingerprint]: { questionId: id, at } },
    questionCount: task.questionCount + 1,
    openQuestions: holds ? [...task.openQuestions, { id, text }] : task.openQuestions,
  };
}
