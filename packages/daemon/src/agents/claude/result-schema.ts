import type { Mode } from '@tidemill/contract';
import { outcomesOf } from '../result.ts';

const text = { type: 'string' };
const texts = { type: 'array', items: text };
const object = (properties: Record<string, object>, required: string[]) => ({ type: 'object', properties, required });

const verdict = object({ id: text, met: { type: 'boolean' }, evidence: text }, ['id', 'met', 'evidence']);
const review = object({ criteria: { type: 'array', items: verdict }, comments: texts }, ['criteria', 'comments']);

const OWN: Record<Mode, Record<string, object>> = {
  plan: { plan: text, planSummary: text, subtasks: texts },
  plan_revision: { plan: text, planSummary: text, subtasks: texts },
  investigate: { plan: text, investigationSummary: text, subtasks: texts },
  implement: {},
  request_changes: {},
  review: { review },
};

/** The form that Claude Code holds its model to. A wider one than ours: what an outcome needs is checked afterwards. */
export function resultSchema(mode: Mode): object {
  const outcome = { type: 'string', enum: outcomesOf(mode) };
  return object({ outcome, summary: text, ...OWN[mode], open_questions: texts }, ['outcome', 'summary']);
}
