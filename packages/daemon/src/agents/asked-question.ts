import { AskedQuestion, QuestionOption, QuestionType } from '@tidemill/contract';
import { z } from 'zod';

const LONGEST_TEXT = 20_000;

/** The questions in these values: each a text, an object, or a list of them. Empty ones are left out. */
export function questionsIn(...values: unknown[]): AskedQuestion[] {
  return values.flat().flatMap((value) => questionIn(value) ?? []);
}

/**
 * A question as it was meant. One that is not well-formed is asked all the same: with its text, and with what else of
 * it can be read.
 */
function questionIn(value: unknown): AskedQuestion | null {
  if (value === undefined || value === null || value === '') return null;
  const given = withoutNulls(typeof value === 'object' ? value : { text: String(value) }) as Record<string, unknown>;
  const text = textOf(given);
  if (text.trim() === '') return null;
  const whole = AskedQuestion.safeParse({ ...given, text });
  if (whole.success) return whole.data;
  const options = Array.isArray(given.options) ? given.options.map(optionIn).filter((option) => option !== null) : [];
  const cut = text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1)}…` : text;
  const parts = Object.entries(READABLE).flatMap(([key, schema]) => {
    const read = schema.safeParse(given[key]);
    return read.success && read.data !== undefined ? [[key, read.data]] : [];
  });
  return AskedQuestion.parse({ ...Object.fromEntries(parts), text: cut, options: options.slice(0, 20) });
}

/** What of a malformed question is used, if it is well-formed itself. */
const READABLE: Record<string, z.ZodType> = {
  id: z.coerce.string().max(200),
  type: z.string().trim().toLowerCase().pipe(QuestionType),
  context: z.string().max(LONGEST_TEXT),
  allowFreeText: z.boolean(),
  default: z.string().max(5_000),
  defaultAnswer: z.string().max(5_000),
  defaultOption: z.string().max(5_000),
};

function optionIn(value: unknown): QuestionOption | null {
  const given = typeof value === 'object' && value !== null ? value : { label: String(value) };
  const { label } = given as { label?: unknown };
  const read = QuestionOption.safeParse(given);
  if (read.success) return read.data;
  const plain = QuestionOption.safeParse({ label: typeof label === 'string' ? label.slice(0, 500) : label });
  return plain.success ? plain.data : null;
}

/** The text has one of several names. A question without any is shown as it was written. */
function textOf(given: Record<string, unknown>): string {
  const { text, question, title, description } = given;
  const texts = [text, question, title, description].filter((each) => typeof each === 'string');
  const found = texts.find((each) => each.trim() !== '');
  if (found !== undefined) return found;
  return texts.length > 0 || Object.keys(given).length === 0 ? '' : JSON.stringify(given);
}

/** Some vendors require every key, and write null for what is left out. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(kept.map(([key, each]) => [key, withoutNulls(each)]));
}
