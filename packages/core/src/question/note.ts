import type { Answer, EventBody, Question, Task } from '@tidemill/contract';

const SHOWN_QUESTION = 400;
const SHOWN_ID = 80;
/** A note has at most 2,000 characters. A longer answer is also passed on in full, as feedback. */
const SHOWN_ANSWER = 1_500;

/** The answer as the next run and the task's chat show it. */
export function answerNote(task: Task, question: Question, answer: Answer): EventBody {
  const who = answer.source === 'user' ? '' : ` (${answer.source})`;
  const own = question.ownId === null ? '' : ` (your id: ${cut(question.ownId, SHOWN_ID)})`;
  const summary = `Asked${own}: ${cut(question.text, SHOWN_QUESTION)}\nAnswer${who}: ${cut(answer.text, SHOWN_ANSWER)}`;
  const entry = { runId: question.runId, source: 'person' as const, entryType: 'answer', summary, at: answer.at };
  return { type: 'task.noted', taskId: task.id, entry };
}

export function wholeAnswer(task: Task, question: Question, answer: Answer): EventBody[] {
  if (answer.text.length <= SHOWN_ANSWER) return [];
  const text = `You asked: ${cut(question.text, SHOWN_QUESTION)}\n\nThe answer:\n${answer.text}`;
  return [{ type: 'task.feedback_given', taskId: task.id, feedback: [{ kind: 'person', text, files: [] }] }];
}

const cut = (text: string, length: number) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);
