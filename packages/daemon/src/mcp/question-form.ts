import { type inputRequired, inputResponse } from '@modelcontextprotocol/server';
import { plainText, type QuestionView, withoutSecrets } from '@tidemill/contract';
import { z } from 'zod';

type Form = Parameters<typeof inputRequired.elicit>[0];

const OTHER = 'Something else';

/** A question as a form for the client's person. */
export function formOf(question: QuestionView, suggested?: string): Form {
  const { ref, text, context, options, allowFreeText, defaultAnswer, task } = question;
  const about = task ? ` (task #${task.number})` : '';
  const lines = [
    `${ref}${about}: ${text}`,
    ...(context ? [context.slice(0, 1000)] : []),
    ...options.map(
      ({ label, description, recommended }) =>
        `- ${label}${recommended ? ' (recommended)' : ''}${description ? `: ${description.slice(0, 300)}` : ''}`,
    ),
    ...(suggested ? [`The assistant suggests: ${suggested}`] : []),
  ];
  const message = withoutSecrets(plainText(lines.join('\n'))).slice(0, 4000);
  const labels = options.map(({ label }) => label);
  const first = suggested ?? defaultAnswer ?? undefined;
  const free = z.string();
  if (labels.length === 0)
    return {
      mode: 'form',
      message,
      requestedSchema: fields({ answer: first === undefined ? free : free.default(first) }),
    };
  const choice = z.enum(allowFreeText ? [...labels, OTHER] : labels);
  return {
    mode: 'form',
    message,
    requestedSchema: fields({
      answer: first !== undefined && labels.includes(first) ? choice.default(first) : choice,
      ...(allowFreeText ? { other: free.optional() } : {}),
    }),
  };
}

const fields = (shape: z.ZodRawShape) => z.object(shape);

const Content = z.object({ answer: z.string().max(20_000), other: z.string().max(20_000).optional() });

/** What the person answered; null when they did not. */
export function answerGiven(question: QuestionView, response: unknown): { text: string } | { option: number } | null {
  const view = inputResponse({ answer: response }, 'answer');
  if (view.kind !== 'elicit' || view.action !== 'accept') return null;
  const content = Content.safeParse(view.content);
  if (!content.success) return null;
  const { answer, other } = content.data;
  const option = question.options.findIndex(({ label }) => label === answer) + 1;
  if (option > 0) return { option };
  const text = question.options.length > 0 && answer === OTHER ? (other ?? '') : answer;
  return text.trim() === '' ? null : { text };
}
