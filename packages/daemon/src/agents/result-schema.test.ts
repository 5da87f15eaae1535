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

  it('is wide for others: a question is a text, or has a type and options', () => {
    const { properties, required } = resultSchema(mode, 'wide') as Schema;
    expect(required).toEqual(['outcome', 'summary']);
    const [plain, typed] = properties!.open_questions!.items!.anyOf!;
    expect(plain).toEqual({ type: 'string' });
    expect(typed!.required).toEqual(['text']);
    expect(Object.keys(typed!.properties!)).toEqual(expect.arrayContaining(['id', 'type', 'options', 'defaultAnswer']));
  });
});
