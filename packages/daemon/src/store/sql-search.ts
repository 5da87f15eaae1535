import type { RecordNoun } from '@tidemill/contract';
import { askedWords, CANDIDATES, codedTags, nounWord, rankCandidates, scopeTag } from '@tidemill/core';
import type { RecordSearch } from '../ports.ts';
import type { RunQuery, SqlValue } from './sql-query.ts';

/** What is searched for: tags that must all be there, and one word, as the index has it. */
interface Asked {
  noun: RecordNoun;
  projectId: string | undefined;
  tags: string[];
  word: string | null;
}

/** How a database finds places in its index: a condition with its values, and the column that the index is ordered by. */
export type TextIndex = (asked: Asked) => { from: string; place: string; test: string; values: SqlValue[] };

/**
 * FTS5 reads its lists from the newest place to the oldest, so that a limit ends the search early. A list that has all
 * records is not compared with the one of a word: that would read all of it.
 */
export const sqliteText: TextIndex = ({ noun, projectId, tags, word }) => {
  const wanted = word === null ? [scopeTag(noun, projectId), ...tags] : tags;
  const parts = [
    ...(word === null ? [] : [`words : "${nounWord(noun, word)}"`]),
    ...(wanted.length === 0 ? [] : [`tags : (${wanted.map((tag) => `"${tag}"`).join(' AND ')})`]),
  ];
  const isOfProject = word !== null && projectId !== undefined;
  return {
    from: 'record_search JOIN record_words ON record_words.place = record_search.rowid',
    place: 'record_search.rowid',
    test: `record_search MATCH ?${isOfProject ? ' AND project_id = ?' : ''}`,
    values: [parts.join(' AND '), ...(isOfProject ? [projectId] : [])],
  };
};

export const postgresText: TextIndex = ({ noun, projectId, tags, word }) => {
  const tests = ['noun = ?'];
  const values: SqlValue[] = [noun];
  const test = (condition: string, value: string) => {
    tests.push(condition);
    values.push(value);
  };
  if (tags.length > 0) test("tags @> string_to_array(?, ' ')", tags.join(' '));
  if (projectId !== undefined) test('project_id = ?', projectId);
  if (word !== null) test('search @@ CAST(? AS tsquery)', nounWord(noun, word));
  return { from: 'record_words', place: 'place', test: tests.join(' AND '), values };
};

interface FoundText {
  id: string;
  place: number;
  score: number;
}

/** The records that match a search, in order. */
export async function searchText(
  run: RunQuery,
  index: TextIndex,
  { noun, projectId, words, tags = [], before, limit }: RecordSearch<RecordNoun>,
): Promise<FoundText[]> {
  const asked = { noun, projectId, tags: codedTags(tags) };
  if (words === undefined) {
    const { from, place, test, values } = index({ ...asked, word: null });
    const older = before === undefined ? '' : ` AND ${place} < ?`;
    const sql = `SELECT record_words.place, id FROM ${from} WHERE ${test}${older} ORDER BY ${place} DESC LIMIT ?`;
    const found = await run(sql, [...values, ...(before === undefined ? [] : [before]), limit]);
    return found.map(({ id, place }) => ({ id: String(id), place: Number(place), score: 1 }));
  }
  const wanted = askedWords(words);
  if (wanted.length === 0) return [];
  const each = wanted.map((word) => ({ word, ...index({ ...asked, word }) }));
  const part = ({ from, place, test }: (typeof each)[number]) =>
    `SELECT * FROM (SELECT CAST(? AS text) AS word, record_words.place, id, record_words.words FROM ${from} WHERE ${test} ORDER BY ${place} DESC LIMIT ?) AS found`;
  const sql = each.map(part).join(' UNION ALL ');
  const rows = await run(
    sql,
    each.flatMap(({ word, values }) => [word, ...values, CANDIDATES]),
  );
  const ids = new Map(rows.map(({ place, id }) => [Number(place), String(id)]));
  const [newest] = await run('SELECT max(place) AS place FROM record_words', []);
  const candidates = rows.map(({ word, place, words: own }) => ({
    word: String(word),
    place: Number(place),
    words: String(own).split(' '),
  }));
  return rankCandidates(wanted, candidates, Number(newest?.place ?? 0))
    .slice(0, limit)
    .map(({ place, score }) => ({ id: ids.get(place)!, place, score }));
}
