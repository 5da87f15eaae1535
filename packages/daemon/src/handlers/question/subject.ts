import type { Question, QuestionView } from '@tidemill/contract';
import type { Store } from '../../ports.ts';

const LETTER = { idea: 'I', spec: 'S', feedback: 'F', delivery: 'D' } as const;
const PAGE = { idea: '/ideas', spec: '/specs', feedback: '/feedback', delivery: '/delivery' } as const;
const LONGEST_TITLE = 200;

const nounOf = (id: string) =>
  Object.keys(LETTER).find((noun) => id.startsWith(`${noun}_`)) as keyof typeof LETTER | undefined;

/** What a question is about, as people name it. Null for a task and for the project. */
export async function subjectOf(
  store: Store,
  { subjectId }: Pick<Question, 'subjectId'>,
): Promise<QuestionView['subject']> {
  const noun = subjectId === null ? undefined : nounOf(subjectId);
  if (subjectId === null || noun === undefined) return null;
  const found = await store.record(noun, subjectId);
  if (!found) return null;
  const title =
    found.noun === 'delivery' ? `Delivery to ${found.environment}` : 'title' in found ? found.title : found.text;
  return {
    ref: `${LETTER[noun]}${found.number}`,
    title: title.slice(0, LONGEST_TITLE),
    page: `${PAGE[noun]}/${found.number}`,
  };
}
