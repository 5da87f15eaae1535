import { type RecordNoun, recordText, type StoredRecord } from '@tidemill/contract';
import { wordsOf } from '../similarity/words.ts';

/** What a store indexes of a record. All are made of a-z, 0-9 and _, so that every store reads them the same way. */
export interface Searchable {
  /** Each once. */
  words: string[];
  tags: string[];
}

const LONGEST_WORD = 64;
const MOST_WORDS = 1_000;
/** A search reads the index once per word. */
const MOST_ASKED = 24;

/** Null for a noun that is not searched. */
export function searchableOf(record: StoredRecord): Searchable | null {
  const search = recordText(record);
  if (!search) return null;
  const words = distinctWords(search.text).slice(0, MOST_WORDS);
  return { words, tags: tagsOf(record.noun, record.projectId, search.tags) };
}

/** The words of a search, in the form in which they are indexed. */
export const askedWords = (text: string): string[] => distinctWords(text).slice(0, MOST_ASKED);

/** Every tag of a record. Its noun and its project are tags too. */
function tagsOf(noun: RecordNoun, projectId: string, tags: readonly string[]): string[] {
  return [scopeTag(noun, undefined), scopeTag(noun, projectId), ...codedTags(tags)];
}

/** The tag of all records of a noun, or of those in one project. */
export const scopeTag = (noun: RecordNoun, projectId: string | undefined) =>
  coded(projectId === undefined ? noun : `${noun} of ${projectId}`);

export const codedTags = (tags: readonly string[]): string[] => tags.map(coded);

/** A word of one noun's records, so that many records of one noun do not slow down the search for another. */
export const nounWord = (noun: RecordNoun, word: string) => `${coded(noun)}_${word}`;

function distinctWords(text: string): string[] {
  return [...new Set(wordsOf(text).map((word) => coded(word.slice(0, LONGEST_WORD))))];
}

const coded = (text: string) =>
  text.replace(/[^a-z0-9]/gu, (character) => `_${character.codePointAt(0)!.toString(16)}_`);
