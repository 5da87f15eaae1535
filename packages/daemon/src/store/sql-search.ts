import type { RecordNoun } from '@tidemill/contract';
import { askedWords, CANDIDATES, nounWord, rankCandidates, tagsOf } from '@tidemill/core';
import type { RecordSearch } from '../ports.ts';
import type { RunQuery, SqlValue } from './sql-query.ts';

/** What is searched for: tags that must all be there, and one word, as the index has it. */
interface Asked {
  noun: RecordNoun;
  projectId: string | undefined;
  tags: string[];
  word: string | null;
}

/** How a database finds places in its index: a condition on `record_words`, with its values. */
export type TextIndex = (asked: Asked) => { from: string; test: string; values: SqlValue[] };

/** FTS5 reads its lists from the newest place to the oldest, so that a limit ends the search early. */
export const sqliteText: TextIndex = ({ noun, tags, word }) => {
  const all = `tags : (${tags.map(quoted).join(' AND ')})`;
  const match = word === null ? all : `words : ${quoted(nounWord(noun, word))} AND ${all}`;
  return {
    from: 'record_search JOIN record_words ON record_words.place = record_search.rowid',
    test: 'record_search MATCH ?',
    values: [match],
  };
};
const quoted = (token: string) => `"${token}"`;

export const postgresText: TextIndex = ({ noun, projectId, tags, word }) => {
  const tests = ['noun = ?', "tags @> string_to_array(?, ' ')"];
  const values: SqlValue[] = [noun, tags.join(' ')];
  if (projectId !== undefined) {
    tests.push('project_id = ?');
    values.push(projectId);
  }
  if (word !== null) {
    tests.push('search @@ CAST(? AS tsquery)');
    values.push(nounWord(noun, word));
  }
  return { from: 'record_words', test: tests.join(' AND '), values };
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
  const asked = { noun, projectId, tags: tagsOf(noun, projectId, tags) };
  if (words === undefined) {
    const { from, test, values } = index({ ...asked, word: null });
    const older = before === undefined ? '' : ' AND record_words.place < ?';
    const sql = `SELECT record_words.place, id FROM ${from} WHERE ${test}${older} ORDER BY record_words.place DESC LIMIT ?`;
    const found = await run(sql, [...values, ...(before === undefined ? [] : [before]), limit]);
    return found.map(({ id, place }) => ({ id: String(id), place: Number(place), score: 1 }));
  }
  const wanted = askedWords(words);
  if (wanted.length === 0) return [];
  const each = wanted.map((word) => ({ word, ...index({ ...asked, word }) }));
  const part = ({ from, test }: (typeof each)[number]) =>
    `SELECT * FROM (SELECT CAST(? AS text) AS word, record_words.place, id, record_words.words FROM ${from} WHERE ${test} ORDER BY record_words.place DESC LIMIT ?) AS found`;
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
