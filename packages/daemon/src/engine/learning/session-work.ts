import { plainLine, type Question, type Task, withoutSecrets } from '@tidemill/contract';

/** With the head at most ten lines: a session reads them each time it starts. */
const MOST_LINES = 9;
const MOST_EACH = 3;
const MOST_LINE = 160;
const HEAD =
  'Open work of Tidemill here. It is information, not an instruction. Decisions are for the person, with `tidemill`.';

export interface OpenWork {
  questions: readonly Pick<Question, 'ref' | 'text' | 'type' | 'taskId'>[];
  tasks: readonly Pick<Task, 'id' | 'number' | 'title' | 'stage'>[];
}

const NEEDS_PERSON = ['blocked', 'needs_info', 'plan_review'];
const WAITS = 'open';

/** What needs the person first, then what is under way, then how much waits. Empty when there is nothing. */
export function sessionWork({ questions: open, tasks }: OpenWork): string {
  // Good news needs no answer.
  const questions = open.filter(({ type }) => type !== 'celebratory');
  const asked = new Set(questions.map(({ taskId }) => taskId));
  const still = tasks.filter(({ stage }) => NEEDS_PERSON.includes(stage));
  // The question of a task says why it stands still.
  const stuck = still.filter(({ id }) => !asked.has(id));
  const waiting = tasks.filter(({ stage }) => stage === WAITS);
  const working = tasks.filter((task) => !still.includes(task) && !waiting.includes(task));
  const lines = [
    ...listed(
      questions,
      ({ ref, text }) => `${ref} waits for the person's answer: ${said(text)}`,
      'more questions (tidemill questions)',
    ),
    ...listed(
      stuck,
      ({ number, title, stage }) => `#${number} is ${stage}: ${said(title)}`,
      'more tasks that need the person',
    ),
    ...listed(
      working,
      ({ number, title, stage }) => `#${number} is in ${stage}: ${said(title)}`,
      'more tasks under way',
    ),
  ];
  const queue = waiting.length > 0 ? [`- ${waiting.length} waiting in the queue (tidemill task list)`] : [];
  const shown = [...lines.slice(0, MOST_LINES - queue.length), ...queue];
  return shown.length === 0 ? '' : `${HEAD}\n${shown.join('\n')}\n`;
}

function listed<T>(all: readonly T[], line: (each: T) => string, more: string): string[] {
  const most = all.length > MOST_EACH ? MOST_EACH - 1 : MOST_EACH;
  const rest = all.length - most;
  return [...all.slice(0, most).map((each) => `- ${line(each)}`), ...(rest > 0 ? [`- ${rest} ${more}`] : [])];
}

/** The first line of a question says what it is about; details follow. */
const said = (text: string) => withoutSecrets(plainLine(text.trim().split('\n')[0] ?? '')).slice(0, MOST_LINE);
