import type { Mode } from '@tidemill/contract';
import { outcomesOf } from '../result.ts';

const text = { type: 'string' };
const texts = { type: 'array', items: text };
const orNull = (schema: object) => ({ anyOf: [schema, { type: 'null' }] });
const object = (properties: Record<string, object>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const verdict = object({ id: text, met: { type: 'boolean' }, evidence: text });
const review = object({ criteria: { type: 'array', items: verdict }, comments: texts });

/**
 * The result's form for the vendor's strict mode, which wants every key required: what may be left out is null there.
 * Nobody on Codex's side checks the answer against it.
 */
export function resultSchema(mode: Mode): object {
  const planning = { plan: orNull(text), subtasks: orNull(texts) };
  const own: Record<Mode, Record<string, object>> = {
    plan: { ...planning, planSummary: orNull(text) },
    plan_revision: { ...planning, planSummary: orNull(text) },
    investigate: { ...planning, investigationSummary: orNull(text) },
    implement: {},
    request_changes: {},
    review: { review: orNull(review) },
  };
  const outcome = { type: 'string', enum: outcomesOf(mode) };
  return object({ outcome, summary: text, ...own[mode], open_questions: orNull(texts) });
}
