import type { Answer, AskedQuestion, EventBody, Question, Task } from '@tidemill/contract';

export const USE_THESE = 'Use these criteria';
export const DERIVE = 'Let the reviewer derive them';

const MOST_PROPOSED = 20;
const MOST_OWN = 100;

export type CriteriaEffect = Extract<Question['effect'], { kind: 'criteria' }>;

/** The effect of the question: what the plan proposed. */
export const criteriaEffect = (proposed: readonly string[] = []): CriteriaEffect => ({
  kind: 'criteria',
  proposed: proposed
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .slice(0, MOST_PROPOSED),
});

/** Asked before anything is built, because afterwards the money is spent. The text is the same every time: it is asked once. */
export function criteriaQuestion({ number, title }: Task, { proposed }: CriteriaEffect): AskedQuestion {
  const list = proposed.map((text, index) => `${index + 1}. ${text}`).join('\n');
  const context =
    proposed.length > 0
      ? `The plan proposes:\n${list}\n\nNothing is built yet. To use others, write them, one per line.`
      : 'The plan proposes none. Nothing is built yet. Write them, one per line.';
  const option = (label: string, description: string, recommended = false) => ({
    label,
    description,
    recommended,
    implications: '',
  });
  return {
    text: `#${number} ${title}: it has no acceptance criteria. How will you know that it is done?`.slice(0, 20_000),
    type: 'blocking',
    allowFreeText: true,
    context: context.slice(0, 20_000),
    options: [
      ...(proposed.length > 0 ? [option(USE_THESE, 'The reviewer judges the change by the proposed ones.', true)] : []),
      option(DERIVE, 'From the title and the description.'),
    ],
    tags: ['criteria'],
  };
}

const LIST_MARK = /^\s*(?:[-*+•]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)]\s+)?/;

/** What an answer makes the task's criteria; nothing when the reviewer is to derive them. */
export function criteriaAnswered(task: Task, { proposed }: CriteriaEffect, { option, text, by }: Answer): EventBody[] {
  if (option === DERIVE) return [];
  const own = text.split(/\r\n|[\n\r\u2028\u2029]/).map((line) => line.replace(LIST_MARK, '').trim());
  const texts = option === USE_THESE ? proposed : own.filter((line) => line !== '').slice(0, MOST_OWN);
  const criteria = texts.map((each, index) => ({ id: `C${index + 1}`, text: each, met: null, evidence: '' }));
  return criteria.length === 0 ? [] : [{ type: 'task.edited', taskId: task.id, by, criteria }];
}
