import { AgentEnvelope, AskedQuestion, MODES, type Mode, type ResultField } from '@tidemill/contract';
import { outcomesOf, problemOfResult, type ResultExpectation } from '@tidemill/core';
import { z } from 'zod';
import { jsonObjectsIn } from './result-json.ts';
import { readTextualVerdict } from './textual-verdict.ts';

/** The text of `invalid` and `missing` is for the agent: the problem of its result and the correct form. */
export type ResultReading = { envelope: AgentEnvelope } | { invalid: string } | { missing: string };

/** Finds the result in an agent's text: the last valid JSON object, or a reviewer's verdict in words. */
export function readResult(text: string, expected: ResultExpectation): ResultReading {
  const last = jsonObjectsIn(text).findLast((found) => 'broken' in found || isResult(found.object));
  if (last && 'broken' in last) return { invalid: `The JSON of the result cannot be read: ${last.broken}.` };
  if (last) return checkResult(last.object, expected);
  if (expected.mode === 'review') {
    const verdict = readTextualVerdict(text, expected.criteria);
    if (verdict && 'invalid' in verdict) return verdict;
    if (verdict) return checkResult(verdict.object, expected);
  }
  return { missing: 'There is no result: no JSON object with an "outcome" was found in the answer.' };
}

/** The same for a result that is already an object, from agents with structured output. */
export function checkResult(
  raw: unknown,
  expected: ResultExpectation,
): { envelope: AgentEnvelope } | { invalid: string } {
  const read = readEnvelope(raw);
  if ('invalid' in read) return read;
  const problem = problemOfResult(read.envelope, expected);
  return problem === null ? read : { invalid: problem };
}

/** Only the form, whatever the mode; questions under any of their three names. */
export function readEnvelope(raw: unknown): { envelope: AgentEnvelope } | { invalid: string } {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    return { invalid: 'The result is not a JSON object.' };
  const { open_questions, openQuestions, question, ...rest } = raw as Record<string, unknown>;
  const asked = [open_questions, openQuestions, question].flat().filter(isSaid).map(questionOf).filter(hasText);
  const given: Record<string, unknown> = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
  if (asked.length > 0) given.open_questions = asked;
  if (Array.isArray(given.subtasks)) given.subtasks = given.subtasks.map(textOf);
  const envelope = AgentEnvelope.safeParse(given);
  if (envelope.success) return { envelope: envelope.data };
  return { invalid: `The result does not have the expected form: ${z.prettifyError(envelope.error)}` };
}

/** Questions asked apart from a result: one or several, each a text or an object. */
export function readQuestions(raw: unknown): { questions: AskedQuestion[] } | { invalid: string } {
  const asked = [raw].flat().filter(isSaid).map(questionOf).filter(hasText);
  const read = z.array(AskedQuestion).min(1, 'there is no question in it').max(20).safeParse(asked);
  return read.success ? { questions: read.data } : { invalid: z.prettifyError(read.error) };
}

/** The prompt for an agent whose result was unreadable. Sent in the same session, so that it still has its context. */
export function repairRequest(problem: string, expected: ResultExpectation): string {
  return [
    `Your work is not lost, but your result could not be read. ${problem}`,
    'Change nothing else now. Answer with the result alone, as one JSON object in a block like this one:',
    exampleResult(expected),
  ].join('\n\n');
}

/** The form of a result as text. */
export function exampleResult({ mode, criteria }: ResultExpectation): string {
  const outcomes = outcomesOf(mode);
  const example = {
    outcome: MODES[mode].outcomes[0],
    summary: 'one or two sentences',
    ...particulars(mode, criteria),
  };
  return [
    `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``,
    `"outcome" is one of ${outcomes.join(', ')}. With needs_info, "open_questions" lists what only a person can answer.`,
  ].join('\n\n');
}

function particulars(mode: Mode, criteria: ResultExpectation['criteria']): Partial<AgentEnvelope> {
  const verdicts = criteria.map(({ id }) => ({ id, met: true, evidence: 'where you saw it' }));
  const examples: Pick<AgentEnvelope, ResultField> = {
    plan: 'the whole plan',
    planSummary: 'the plan in a sentence',
    investigationSummary: 'what is wrong and why',
    subtasks: ['first step', 'second step'],
    review: { criteria: verdicts, comments: [] },
  };
  return Object.fromEntries(MODES[mode].fields.map((field) => [field, examples[field]]));
}

const isResult = (object: Record<string, unknown>) => 'outcome' in object || object.tidemill === 'result';
const isSaid = (value: unknown) => value !== undefined && value !== null && value !== '';

/** A bare text, or an object whose text has one of several names. */
function questionOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return { text: value };
  return { ...value, text: textOf(value) };
}
const hasText = (question: unknown) => {
  const { text } = question as { text: unknown };
  return typeof text !== 'string' || text.trim() !== '';
};

/** Some agents send a question or a step as an object. Only its text is used. */
function textOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { text, question, title, description } = value as Record<string, unknown>;
  return text ?? question ?? title ?? description ?? value;
}
