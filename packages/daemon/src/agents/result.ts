import {
  AgentEnvelope,
  type AskedQuestion,
  JOB_RESULTS,
  type JobField,
  MODES,
  type Mode,
  type ResultField,
} from '@tidemill/contract';
import { outcomesOf, problemOfResult, type ResultExpectation } from '@tidemill/core';
import { z } from 'zod';
import { questionsIn, withoutNulls } from './asked-question.ts';
import { jsonObjectsIn } from './result-json.ts';
import { jobSchema } from './result-schema.ts';
import { readTextualProposal } from './textual-proposal.ts';
import { readTextualVerdict } from './textual-verdict.ts';

/** More in one call are most likely a mistake. */
const MOST_ASKED = 20;

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
  const proposed = expected.mode === 'propose' ? readTextualProposal(text) : null;
  if (proposed) return checkResult(proposed, expected);
  return { missing: 'There is no result: no JSON object with an "outcome" was found in the answer.' };
}

/**
 * Whether an agent that stops with these words hands in work, so that the work is checked before it ends. False when
 * its result has another outcome: it asks, gives up, or changed nothing on purpose.
 */
export function isHandIn(lastWords: unknown): boolean {
  if (typeof lastWords !== 'string') return true;
  const last = jsonObjectsIn(lastWords).findLast((found) => 'broken' in found || isResult(found.object));
  return !last || 'broken' in last || !outcomesElsewhere.has(last.object.outcome);
}
const outcomesElsewhere = new Set<unknown>(['needs_info', 'failed', 'no_changes']);

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
  const asked = questionsIn(open_questions, openQuestions, question);
  const given = withoutNulls(rest) as Record<string, unknown>;
  if (asked.length > 0) given.open_questions = asked;
  if (Array.isArray(given.subtasks)) given.subtasks = given.subtasks.map(textOf);
  const envelope = AgentEnvelope.safeParse(given);
  if (envelope.success) return { envelope: envelope.data };
  const faults = envelope.error.issues.map(({ path, message }) => `${z.core.toDotPath(path)}: ${message}`);
  return { invalid: `The result does not have the expected form. ${faults.join('; ')}` };
}

/** Questions asked apart from a result: one or several, each a text or an object. */
export function readQuestions(raw: unknown): { questions: AskedQuestion[] } | { invalid: string } {
  const questions = questionsIn(raw);
  if (questions.length === 0) return { invalid: 'there is no question in it' };
  return questions.length > MOST_ASKED ? { invalid: `at most ${MOST_ASKED} questions at once` } : { questions };
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
    ...jobForms(mode),
    `"outcome" is one of ${outcomes.join(', ')}. With needs_info, "open_questions" lists what only a person can answer, each as a text or as ${EXAMPLE_QUESTION}.`,
  ].join('\n\n');
}

const EXAMPLE_QUESTION =
  '{"id": "your own name for it", "type": "blocking", "text": "…", "context": "why you ask", "options": [{"label": "…", "description": "…", "recommended": true}], "defaultAnswer": "…"}';

function particulars(mode: Mode, criteria: ResultExpectation['criteria']): Partial<AgentEnvelope> {
  const seen = { met: true, evidence: 'where you saw it' };
  const verdicts =
    criteria.length > 0 ? criteria.map(({ id }) => ({ id, ...seen })) : [{ id: 'C1', text: 'what must hold', ...seen }];
  const examples: Pick<AgentEnvelope, Exclude<ResultField, JobField>> = {
    plan: 'the whole plan',
    planSummary: 'the plan in a sentence',
    investigationSummary: 'what is wrong and why',
    subtasks: ['first step', 'second step'],
    criteria: ['what must hold when the task is done'],
    review: { criteria: verdicts, comments: [] },
    declares: {},
    decisions: ['what you decided and nobody should decide again'],
    discoveries: [],
    unresolved: [],
  };
  return Object.fromEntries(
    MODES[mode].fields.map((field) => [field, isJobField(field) ? 'see below' : examples[field]]),
  );
}

const isJobField = (field: ResultField): field is JobField => Object.hasOwn(JOB_RESULTS, field);

/** The form of what only jobs return. */
const jobForms = (mode: Mode): string[] =>
  [...MODES[mode].fields]
    .filter(isJobField)
    .map((field) => `"${field}" is an object of this JSON schema:\n\n${JSON.stringify(jobSchema(field, false))}`);

const isResult = (object: Record<string, unknown>) => 'outcome' in object || object.tidemill === 'result';

/** Some agents send a step as an object. Only its text is used. */
function textOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { text, title, description } = value as Record<string, unknown>;
  return text ?? title ?? description ?? value;
}
