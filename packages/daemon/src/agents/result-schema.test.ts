import { MODE_NAMES } from '@tidemill/contract';
import { describe, expect, it } from 'vitest';
import { resultSchema } from './result-schema.ts';

interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean;
  items?: Schema;
  anyOf?: Schema[];
  enum?: string[];
}

/** Every object in a schema, however deep. */
function objectsIn(schema: Schema): Schema[] {
  const inner = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items ? [schema.items] : []),
    ...(schema.anyOf ?? []),
  ];
  return [...(schema.type === 'object' ? [schema] : []), ...inner.flatMap(objectsIn)];
}

/** The object form of what a list has as texts or objects. What may be left out may be null in the strict form. */
function textOr(list: Schema): Schema {
  const { items } = list.items ? list : list.anyOf![0]!;
  const [plain, typed] = items!.anyOf!;
  expect(plain).toEqual({ type: 'string' });
  return typed!;
}

describe.each(MODE_NAMES)('the form of a result in %s', (mode) => {
  it('is strict for a vendor who wants that: every key is required, and no other is allowed', () => {
    const objects = objectsIn(resultSchema(mode, 'strict') as Schema);
    expect(objects.length).toBeGreaterThan(2);
    for (const { properties, required, additionalProperties } of objects)
      expect({ required, additionalProperties }).toEqual({
        required: Object.keys(properties!),
        additionalProperties: false,
      });
  });

  it.each(['wide', 'strict'] as const)(
    '%s: a question is a text or an object, and so is each of its options',
    (form) => {
      const { properties } = resultSchema(mode, form) as Schema;
      const typed = textOr(properties!.open_questions!);
      expect(Object.keys(textOr(typed.properties!.options!).properties!)).toContain('label');
    },
  );

  it('is wide for others: only a question’s text is needed', () => {
    const { properties, required } = resultSchema(mode, 'wide') as Schema;
    expect(required).toEqual(['outcome', 'summary']);
    const typed = textOr(properties!.open_questions!);
    expect(typed.required).toEqual(['text']);
    expect(Object.keys(typed.properties!)).toEqual(expect.arrayContaining(['id', 'type', 'options', 'defaultAnswer']));
  });
});
