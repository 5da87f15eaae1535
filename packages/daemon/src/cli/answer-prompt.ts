import { createInterface } from 'node:readline/promises';
import { type Api, AppError, type Project, type QuestionView } from '@tidemill/contract';
import { questionLines } from './question-view.ts';
import { oneLine, type Terminal } from './terminal.ts';

/** Asks the person at the terminal the named question, or all open ones, the most urgent first. */
export async function answerInTurn(
  api: Api,
  { id: project }: Project,
  terminal: Terminal,
  name: string | undefined,
): Promise<void> {
  const open =
    name === undefined
      ? await api.questions({ project })
      : [(await api.question({ project, question: name })).question];
  if (open.length === 0) return terminal.line('No open questions.');
  const prompt = createInterface({ input: process.stdin, output: process.stdout });
  try {
    for (const question of open) {
      for (const line of questionLines(question, terminal)) terminal.line(line);
      if (question.answer || question.status !== 'open') continue;
      const said = (await prompt.question(invitation(question))).trim();
      if (said === '' && question.defaultAnswer === null) terminal.line(`${question.ref} stays open.\n`);
      else terminal.line(`${await give(api, project, question, said)}\n`);
    }
  } finally {
    prompt.close();
  }
}

function invitation({ options, allowFreeText, defaultAnswer }: QuestionView): string {
  const ways = [
    ...(options.length > 0 ? [`1-${options.length}`] : []),
    ...(allowFreeText || options.length === 0 ? ['your own text'] : []),
    defaultAnswer === null ? 'Enter to leave it open' : `Enter for "${oneLine(defaultAnswer)}"`,
  ];
  return `Your answer (${ways.join(', ')}): `;
}

/** A refused answer does not end the loop over the other questions. */
async function give(api: Api, project: string, question: QuestionView, said: string): Promise<string> {
  const number = /^\d{1,2}$/.test(said) ? Number(said) : null;
  const isOption = number !== null && number >= 1 && number <= question.options.length;
  const how = said === '' ? { useDefault: true } : isOption ? { option: number } : { text: said };
  try {
    const { ref, answer } = await api.answerQuestion({ project, question: question.id, ...how });
    return `${ref} answered: ${oneLine(answer?.text ?? '')}`;
  } catch (error) {
    if (error instanceof AppError && error.code !== 'daemon_unreachable') return `${error.message}. ${error.hint}`;
    throw error;
  }
}
