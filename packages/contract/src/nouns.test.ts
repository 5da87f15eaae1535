import { expect, test } from 'vitest';
import { EVENTS, RECORD_KINDS } from './nouns.ts';

test('the names of events and nouns are in snake case, and an event is named `noun.verb`', () => {
  const types = EVENTS.map(({ schema }) => schema.shape.type.value);
  expect(types.filter((type) => !/^[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*$/.test(type))).toEqual([]);
  const nouns = RECORD_KINDS.map(({ schema }) => schema.shape.noun.value);
  expect(nouns.filter((noun) => !/^[a-z]+(_[a-z]+)*$/.test(noun))).toEqual([]);
});
