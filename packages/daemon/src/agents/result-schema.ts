import {
  HilConfig,
  JOB_RESULTS,
  type JobField,
  MODES,
  type Mode,
  QuestionType,
  type ResultField,
} from '@tidemill/contract';
import { outcomesOf } from '@tidemill/core';
import { z } from 'zod';

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
    required: isStrict ? Object.keys(properties) : required,
    ...(isStrict ? { additionalProperties: false } : {}),
  });
  const needed = { outcome: { type: 'string', enum: outcomesOf(mode) }, summary: text };
  /** The first keys are needed, the others may be left out. */
  const partly = (first: Properties, others: Properties) =>
    isStrict ? object({ ...first, ...orNull(others) }) : object({ ...first, ...others }, Object.keys(first));
  const question = questionSchema(partly);
  const questions = { type: 'array', items: orText(question) };
  return partly(needed, { ...ownOf(mode, isStrict, object), open_questions: questions });
}

const orNull = (properties: Properties): Properties =>
  Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, { anyOf: [schema, { type: 'null' }] }]));

/** A plain text is a question, and an option, too. A model that writes one must not be refused. */
const orText = (schema: object) => ({ anyOf: [text, schema] });

const told = (schema: object, description: string) => ({ ...schema, description });

/** A question with its type and options, as the person will see it. */
function questionSchema(partly: (first: Properties, others: Properties) => object): object {
  const option = partly(
    { label: told(text, 'The answer, in a few words') },
    { description: text, recommended: { type: 'boolean' }, implications: text },
  );
  return partly(
    { text: told(text, 'One question, clear to a person who has not read the code') },
    {
      id: told(text, 'Your own name for it: the answer comes back with it'),
      type: { type: 'string', enum: QuestionType.options, description: 'blocking when left out' },
      context: told(text, 'Why you ask'),
      options: { type: 'array', items: orText(option) },
      defaultAnswer: told(text, 'What you go on with while nobody has answered'),
      allowFreeText: told({ type: 'boolean' }, 'False: only one of the options is an answer'),
      tags: texts,
    },
  );
}

function ownOf(
  mode: Mode,
  isStrict: boolean,
  object: (properties: Properties, required?: string[]) => object,
): Properties {
  const judged = { id: text, met: { type: 'boolean' }, evidence: text };
  // Only for a criterion that the reviewer derived.
  const verdict = object({ ...judged, text: { type: ['string', 'null'] } }, Object.keys(judged));
  const fields: Record<Exclude<ResultField, JobField>, object> = {
    plan: text,
    planSummary: text,
    investigationSummary: text,
    subtasks: texts,
    criteria: texts,
    review: object({ criteria: { type: 'array', items: verdict }, comments: texts }),
    decisions: told(texts, 'What you decided and nobody should decide again'),
    discoveries: told(texts, 'What others should know about this repository; each names its files'),
    unresolved: told(texts, 'Known defects and open points'),
    declares: object(Object.fromEntries(HilConfig.keyof().options.map((matter) => [matter, texts]))),
  };
  return Object.fromEntries(
    MODES[mode].fields.map((field) => [field, isJobField(field) ? jobSchema(field, isStrict) : fields[field]]),
  );
}

const isJobField = (field: ResultField): field is JobField => Object.hasOwn(JOB_RESULTS, field);

/** The noun's own schema. What only our parser checks is left out of it. */
export function jobSchema(field: JobField, isStrict: boolean): object {
  const { $schema: _, ...schema } = z.toJSONSchema(JOB_RESULTS[field], { io: 'input', unrepresentable: 'any' });
  return isStrict ? strict(schema as JsonSchema) : schema;
}

interface JsonSchema {
  [key: string]: unknown;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
}

/** Keywords that a strict vendor knows. Others, such as lengths and formats, are refused by some. */
const KNOWN = [
  'type',
  'enum',
  'const',
  'description',
  'properties',
  'required',
  'items',
  'anyOf',
  'additionalProperties',
];

/** Every key required and no other allowed. What may be left out is null. */
function strict(schema: JsonSchema): JsonSchema {
  const known = Object.fromEntries(Object.entries(schema).filter(([key]) => KNOWN.includes(key))) as JsonSchema;
  const { properties, required = [], items, anyOf } = known;
  if (items) known.items = strict(items);
  if (anyOf) known.anyOf = anyOf.map(strict);
  if (!properties) return known;
  const entries = Object.entries(properties).map(([key, each]): [string, JsonSchema] => [
    key,
    required.includes(key) ? strict(each) : { anyOf: [strict(each), { type: 'null' }] },
  ]);
  return {
    ...known,
    properties: Object.fromEntries(entries),
    required: Object.keys(properties),
    additionalProperties: false,
  };
}
