import type { RepairedRow, RowNoun } from '../ports.ts';
import { compare } from './compare.ts';
import type { Reads } from './driver.ts';
import { LoadedSlice, RowMemo } from './loaded-slice.ts';
import type { RunQuery } from './sql-query.ts';

const TABLES: Record<RowNoun, string> = {
  project: 'projects',
  task: 'tasks',
  run: 'runs',
  worker: 'workers',
  evidence: 'evidence',
  record: 'records',
};

/** Created when first needed: most stores never use it. */
const SET_ASIDE = 'CREATE TABLE IF NOT EXISTS set_aside (noun text, id text, doc text, why text, at text)';

export interface Repair {
  rows: RepairedRow[];
  /** The rows to save, according to the log. */
  loaded: LoadedSlice;
}

/**
 * Within a transaction: moves every row that cannot be read or differs from the log to the table `set_aside`. The caller
 * then saves the rows according to the log.
 */
export async function setFaultyRowsAside(
  run: RunQuery,
  reads: Pick<Reads, 'events' | 'removedEvents' | 'rows'>,
): Promise<Repair> {
  const { rows: misfits, slice } = await compare(reads);
  const loaded = new LoadedSlice(new RowMemo());
  if (misfits.length > 0) await run(SET_ASIDE, []);
  for (const { noun, id, why } of misfits) {
    const kept = 'INSERT INTO set_aside (noun, id, doc, why, at)';
    const doc = `CAST(doc AS text), CAST(? AS text), CAST(CURRENT_TIMESTAMP AS text) FROM ${TABLES[noun]} WHERE id = ?`;
    await run(`${kept} SELECT '${noun}', id, ${doc}`, [why, id]);
    await run(`DELETE FROM ${TABLES[noun]} WHERE id = ?`, [id]);
    if (noun === 'task') await run('DELETE FROM dependencies WHERE task_id = ?', [id]);
    putBack(loaded, slice, noun, id);
  }
  const rows = misfits.map(({ noun, id, why, expected }) => ({ noun, id, why, isRebuilt: expected !== null }));
  return { rows, loaded };
}

function putBack({ slice: to }: LoadedSlice, from: LoadedSlice['slice'], noun: RowNoun, id: string): void {
  const put = <T>(row: T | undefined, save: (row: T) => void) => row !== undefined && save(row);
  if (noun === 'project') put(from.projects.get(id), (row) => to.projects.put(row));
  if (noun === 'task') put(from.tasks.get(id), (row) => to.tasks.put(row));
  if (noun === 'run') put(from.runs.get(id), (row) => to.runs.put(row));
  if (noun === 'worker') put(from.workers.get(id), (row) => to.workers.put(row));
  if (noun === 'evidence') put(from.evidence.get(id), (row) => to.evidence.put(row));
  if (noun === 'record') put(from.records.get(id), (row) => to.records.put(row));
}
