import { MODES, type Mode, type ResultField } from '@tidemill/contract';
import { outcomesOf } from '@tidemill/core';

type Properties = Record<string, object>;

const text = { type: 'string' };
const texts = { type: 'array', items: text };

/**
 * The form a model is held to, by vendors that can. A wider one than ours: what an outcome needs is checked afterwards.
 * The strict one is for a vendor who wants every key required and no other: what may be left out is null there.
 */
export function resultSchema(mode: Mode, form: 'wide' | 'strict'): object {
  const isStrict = form === 'strict';
  const object = (properties: Properties, required = Object.keys(properties)) => ({
    type: 'object',
    properties,
    required,
    ...(isStrict ? { additionalProperties: false } : {}),
  });
  const needed = { outcome: { type: 'string', enum: outcomesOf(mode) }, summary: text };
  const own = { ...ownOf(mode, object), open_questions: texts };
  if (!isStrict) return object({ ...needed, ...own }, Object.keys(needed));
  const orNull = Object.entries(own).map(([key, schema]) => [key, { anyOf: [schema, { type: 'null' }] }] as const);
  return object({ ...needed, ...Object.fromEntries(orNull) });
}

function ownOf(mode: Mode, object: (properties: Properties) => object): Properties {
  const verdict = object({ id: text, met: { type: 'boolean' }, evidence: text });
  const fields: Record<ResultField, object> = {
    plan: text,
    planSummary: text,
    investigationSummary: text,
    subtasks: texts,
    review: object({ criteria: { type: 'array', items: verdict }, comments: texts }),
  };
  return Object.fromEntries(MODES[mode].fields.map((field) => [field, fields[field]]));
}
