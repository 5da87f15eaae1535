import type { RecordNoun, RecordOf, StoredRecord } from '@tidemill/contract';
import {
  askedWords,
  CANDIDATES,
  codedTags,
  rankCandidates,
  type Searchable,
  scopeTag,
  searchableOf,
} from '@tidemill/core';
import type { FoundRecord, RecordSearch } from '../ports.ts';

const known = new WeakMap<StoredRecord, Searchable | null>();

function textOf(record: StoredRecord): Searchable | null {
  if (!known.has(record)) known.set(record, searchableOf(record));
  return known.get(record)!;
}

/** Goes through all records of the noun: for the simulator and for tests. */
export function searchIn<N extends RecordNoun>(
  all: Iterable<StoredRecord>,
  { noun, projectId, words, tags = [], before = Number.POSITIVE_INFINITY, limit }: RecordSearch<N>,
): FoundRecord<N>[] {
  const wanted = [scopeTag(noun, projectId), ...codedTags(tags)];
  const ofNoun = [...all].filter((record): record is RecordOf<N> => record.noun === noun);
  const found = ofNoun
    .flatMap((record, index) => {
      const text = textOf(record);
      return text && wanted.every((tag) => text.tags.includes(tag)) ? [{ record, place: index + 1, text }] : [];
    })
    .reverse();
  if (words === undefined)
    return found
      .filter(({ place }) => place < before)
      .slice(0, limit)
      .map(({ record, place }) => ({ record, place, score: 1 }));
  const asked = askedWords(words);
  const candidates = asked.flatMap((word) =>
    found
      .filter(({ text }) => text.words.includes(word))
      .slice(0, CANDIDATES)
      .map(({ place, text }) => ({ word, place, words: text.words })),
  );
  return rankCandidates(asked, candidates, ofNoun.length)
    .slice(0, limit)
    .map(({ place, score }) => ({ record: ofNoun[place - 1]!, place, score }));
}
