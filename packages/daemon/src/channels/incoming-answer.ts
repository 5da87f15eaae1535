import { type Notification, personActor, type Question } from '@tidemill/contract';
import type { ChannelAnswer, Store } from '../ports.ts';

type AnswerReply = Awaited<ReturnType<import('../ports.ts').HearAnswer>>;

const no = (text: string): AnswerReply => ({ isTaken: false, text });

/** `2: yes`, `2. yes`, `2) yes`, one per line; null if a line has no valid number. */
function numberedAnswers(text: string, count: number): { index: number; text: string }[] | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const found = lines.map((line) => /^\s*(\d{1,2})\s*[.:)]\s*(\S.*)$/.exec(line));
  if (found.length === 0 || found.some((match) => !match || Number(match[1]) < 1 || Number(match[1]) > count))
    return null;
  return found.map((match) => ({ index: Number(match![1]) - 1, text: match![2]! }));
}

/** Records an answer from a channel and returns the reply to send. */
export async function takeAnswer(store: Store, answer: ChannelAnswer, asked: Notification[]): Promise<AnswerReply> {
  const questions = await questionsOf(store, asked);
  if (questions.length === 0) return no('That message has no question.');
  if ('option' in answer) {
    const option = questions[0]!.options[answer.option];
    return option ? give(store, questions[0]!, option.label, answer.by) : no('That option does not exist.');
  }
  if (questions.length === 1) return give(store, questions[0]!, answer.text, answer.by);
  const numbered = numberedAnswers(answer.text, questions.length);
  if (!numbered) return no(`That message has ${questions.length} questions. Start with a number, such as "1: yes".`);
  const replies: AnswerReply[] = [];
  for (const { index, text } of numbered) replies.push(await give(store, questions[index]!, text, answer.by));
  return { isTaken: replies.some(({ isTaken }) => isTaken), text: replies.map(({ text }) => text).join('\n') };
}

async function questionsOf(store: Store, asked: Notification[]): Promise<Question[]> {
  const ids = asked.flatMap(({ questionIds }) => questionIds);
  const found = await Promise.all(ids.map((id) => store.record('question', id)));
  return found.filter((question) => question !== null);
}

async function give(store: Store, question: Question, text: string, by: string): Promise<AnswerReply> {
  const { projectId, taskId, subjectId, id: questionId } = question;
  const reply = await store.execute({
    type: 'question.answer',
    projectId,
    taskId,
    subjectId,
    questionId,
    by: personActor(by),
    source: 'user',
    text,
  });
  const after = await store.record('question', questionId);
  if (reply.ok) return { isTaken: true, text: `Answer saved: ${after?.answer?.text ?? text}` };
  if (after?.status === 'answered' && after.answer)
    return no(`Already answered by ${after.answer.by.name}: "${after.answer.text.slice(0, 200)}"`);
  return no([reply.refusal.message, reply.refusal.hint].filter((part) => part !== '').join('; '));
}
