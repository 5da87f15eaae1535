import { z } from 'zod';
import { nearest } from '../api/nearest.ts';

type Names = Readonly<Record<string, string>>;
const OTHER_NAMES = new WeakMap<z.ZodType, Names>();

/** The names that are often written for the keys of an object. */
export const otherNamesOf = (schema: z.ZodType): Names => OTHER_NAMES.get(schema) ?? {};

/** What is wrong with a key that does not exist, and what to write instead. */
export function unknownKeyText(key: string, known: readonly string[], otherNames: Names = {}, where = ''): string {
  const others = known.filter((each) => each !== key);
  const guess = Object.hasOwn(otherNames, key) ? otherNames[key] : nearest(key, others);
  const advice = guess ? `did you mean "${guess}"?` : `the keys here are ${others.join(', ')}`;
  const shown = JSON.stringify(key.length > 60 ? `${key.slice(0, 57)}...` : key);
  return `unknown key ${shown}${where}; ${advice}`;
}

/**
 * An object of which nothing is dropped: an unknown key is an error that names the right one. `otherNames` are words that
 * people and agents often use for its keys.
 */
export function strictObjectWithHints<S extends z.ZodRawShape>(
  shape: S,
  otherNames: Record<string, keyof S & string> = {},
) {
  const schema = z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? (issue.keys as string[]).map((key) => unknownKeyText(key, Object.keys(shape), otherNames)).join('; ')
        : undefined,
  });
  OTHER_NAMES.set(schema, otherNames);
  return schema;
}
