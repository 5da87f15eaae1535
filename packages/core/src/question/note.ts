import type { Answer, EventBody, Question, Task } from '@tidemill/contract';

const SHOWN_QUESTION = 400;
/** A note has 2,000 characters; a longer answer is handed on whole, as feedback. */
const SHOWN_ANSWER = 1_500;

/** What the next run of the task gets to know of an answer, and what stands in the task's chat. */
export function answerNote(task: Task, question: Question, answer: Answer): EventBody {
  const who = answer.source === 'user' ? '' : ` (${answer.source})`;
  const summary = `Asked: ${cut(question.text, SHOWN_QUESTION)}\nAnswer${who}: ${cut(answer.text, SHOWN_ANSWER)}`;
  const entry = { runId: question.runId, source: 'person' as const, entryType: 'answer', summary, at: answer.at };
  return { type: 'task.noted', taskId: task.id, entry };
}

export function wholeAnswer(task: Task, question: Question, answer: Answer): EventBody[] {
  if (answer.text.length <= SHOWN_ANSWER) return [];
  const text = `You asked: ${cut(question.text, SHOWN_QUESTION)}\n\nThe answer:\n${answer.text}`;
  return [{ type: 'task.feedback_given', taskId: task.id, feedback: [{ kind: 'person', text, files: [] }] }];
}

const cut = (text: string, length: number) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);
