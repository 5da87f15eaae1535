import type { InboxItem, QuestionView } from '@tidemill/contract';
import { pickText } from '../words.ts';

/** What a person can do about an item, in the order in which it is offered. */
export type InboxChoice = { label: string; detail: string } & (
  | { does: 'answer'; option: number }
  | { does: 'default' }
  /** Asks for a text first. */
  | { does: 'write'; prompt: string; sends: 'answer' | 'reject' | 'refuse' | 'retry' }
  | { does: 'approve' | 'cancel' | 'conflict' | 'acknowledge' | 'change' | 'task' }
  | { does: 'retry' }
  | { does: 'proposal' }
  | { does: 'alert'; action: string }
);

const isTask = ({ ref }: InboxItem) => ref.startsWith('#');
export const proposalOf = ({ ref, kind }: InboxItem): number | null =>
  kind === 'approval' && /^p\d+$/.test(ref) ? Number(ref.slice(1)) : null;
/** Whether the item is a question: its options must be read before it can be answered. */
export const isQuestion = (item: InboxItem) => item.kind !== 'alert' && !isTask(item) && proposalOf(item) === null;

export function choicesOf(item: InboxItem, question: QuestionView | null): InboxChoice[] {
  if (item.kind === 'alert') return alertChoices(item);
  if (proposalOf(item) !== null)
    return [
      { does: 'proposal', label: 'Approve', detail: 'Make a task of it.' },
      {
        does: 'write',
        sends: 'refuse',
        label: 'Refuse…',
        detail: 'Nothing like it is proposed again.',
        prompt: 'Why not? Later proposals learn from it.',
      },
    ];
  if (question) return [...questionChoices(question), ...aboutTask(item)];
  if (!isTask(item)) return [];
  return [...taskChoices(item), ...aboutTask(item)];
}

const aboutTask = ({ task }: InboxItem): InboxChoice[] =>
  task
    ? [
        { does: 'change', label: '$(diff) Show change', detail: '' },
        { does: 'task', label: `$(info) Show #${task.number}`, detail: '' },
      ]
    : [];

function questionChoices({ options, defaultAnswer, allowFreeText, type }: QuestionView): InboxChoice[] {
  const isOption = options.some(({ label }) => label === defaultAnswer);
  return [
    ...options.map(({ label, description, implications, recommended }, index): InboxChoice => {
      const marks = [...(label === defaultAnswer ? ['default'] : []), ...(recommended ? ['recommended'] : [])];
      const detail = [description, implications].filter((part) => part !== '').join(' ');
      return {
        does: 'answer',
        option: index + 1,
        label: pickText(marks.length ? `${label} (${marks.join(', ')})` : label),
        detail: pickText(detail),
      };
    }),
    ...(defaultAnswer !== null && !isOption
      ? [
          {
            does: 'default' as const,
            label: `${pickText(defaultAnswer)} (default)`,
            detail: 'Used when nobody answers.',
          },
        ]
      : []),
    ...(options.length === 0 || (allowFreeText && type !== 'celebratory')
      ? [
          {
            does: 'write' as const,
            sends: 'answer' as const,
            label: '$(edit) Write an answer…',
            detail: '',
            prompt: 'Your answer',
          },
        ]
      : []),
  ];
}

function taskChoices(item: InboxItem): InboxChoice[] {
  if (item.title.includes('conflict'))
    return [{ does: 'conflict', label: 'Resolve the conflict', detail: 'Opens it in the merge editor.' }];
  const cancel: InboxChoice = { does: 'cancel', label: 'Cancel task', detail: 'Its work is kept.' };
  if (!item.command.includes('approve'))
    return [
      { does: 'retry', label: 'Retry', detail: '' },
      { does: 'write', sends: 'retry', label: 'Retry with a note…', detail: '', prompt: 'A note for the next attempt' },
      cancel,
    ];
  return [
    { does: 'approve', label: 'Approve', detail: '' },
    { does: 'write', sends: 'reject', label: 'Request changes…', detail: '', prompt: 'What should change?' },
    cancel,
  ];
}

const alertChoices = ({ actions }: InboxItem): InboxChoice[] => [
  ...actions.map(({ id, label }): InboxChoice => ({ does: 'alert', action: id, label, detail: '' })),
  { does: 'acknowledge', label: 'Acknowledge', detail: 'It leaves the inbox.' },
];
