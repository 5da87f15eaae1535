import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { EVENT_VERSION, subjectIdOf } from '@tidemill/contract';
import {
  columnValues,
  declared,
  LOOKUPS,
  type Lookup,
  type LookupName,
  nounWord,
  type Rows,
  searchableOf,
  TABLES,
  type TableName,
  type TableRows,
} from '@tidemill/core';
import type { PendingEvent } from './driver.ts';
import { LoadedSlice, RowMemo } from './loaded-slice.ts';

/** Loads and saves slices. Every statement is compiled once, here. */
export class SqliteSlices {
  readonly #find: Record<LookupName, StatementSync>;
  readonly #save: Record<TableName | 'dependency' | 'event', StatementSync>;
  readonly #delete: Record<'worker' | 'dependencies', StatementSync>;
  readonly #index: Record<'words' | 'search', StatementSync>;
  readonly #head: StatementSync;
  readonly #memo = new RowMemo();

  constructor(db: DatabaseSync) {
    const each = <K extends string>(names: K[], sql: (name: K) => string) =>
      Object.fromEntries(names.map((name) => [name, db.prepare(sql(name))])) as Record<K, StatementSync>;
    this.#find = each(Object.keys(LOOKUPS) as LookupName[], selection);
    this.#save = {
      ...each(TABLE_NAMES, (table) => upsert(table, [...Object.keys(TABLES[table]), 'doc'])),
      // A link of the chain is never overwritten.
      evidence: db.prepare(insert('evidence', [...Object.keys(TABLES.evidence), 'doc'])),
      dependency: db.prepare(insert('dependencies', ['task_id', 'depends_on'])),
      event: db.prepare(insert('events', ['seq', 'project_id', 'subject_id', 'type', 'at', 'v', 'body'])),
    };
    this.#delete = {
      worker: db.prepare('DELETE FROM workers WHERE id = ?'),
      dependencies: db.prepare('DELETE FROM dependencies WHERE task_id = ?'),
    };
    this.#index = {
      words: db.prepare(`${upsert('record_words', ['id', 'noun', 'project_id', 'words'])} RETURNING place`),
      search: db.prepare('INSERT OR REPLACE INTO record_search (rowid, words, tags) VALUES (?, ?, ?)'),
    };
    this.#head = db.prepare('SELECT max(seq) AS seq FROM events');
  }

  load(lookups: readonly Lookup[], now: number): LoadedSlice {
    const loaded = new LoadedSlice(this.#memo);
    for (const lookup of lookups) {
      const { kind, due, where } = declared(lookup.find);
      const values = [...lookup.by];
      if (due !== undefined) values.splice(where.length, 0, now);
      const rows = this.#find[lookup.find].all(...values);
      if (kind === 'count') loaded.slice.loadCount(lookup, Number(rows[0]?.n ?? 0));
      else if (kind === 'edges')
        loaded.slice.loadEdges(rows.map((row) => [String(row.task_id), String(row.depends_on)] as const));
      else
        loaded.take(
          lookup,
          rows.map((row) => String(row.doc)),
        );
    }
    return loaded;
  }

  /** Returns the number of the last event before these. */
  save(loaded: LoadedSlice, events: PendingEvent[]): number {
    const { slice } = loaded;
    for (const table of TABLE_NAMES) {
      const rows = slice[table] as unknown as Rows<TableRows[typeof table]>;
      for (const row of rows.changed.values()) this.#save[table].run(...columnValues(table, row), JSON.stringify(row));
    }
    for (const record of slice.records.changed.values()) this.#indexText(record);
    for (const id of slice.workers.removed) this.#delete.worker.run(id);
    for (const row of loaded.withNewDependencies()) {
      this.#delete.dependencies.run(row.id);
      for (const dependency of new Set(row.dependsOn)) this.#save.dependency.run(row.id, dependency);
    }
    return this.#append(events);
  }

  #indexText(record: TableRows['records']): void {
    const { id, noun, projectId } = record;
    const searchable = searchableOf(record);
    if (!searchable) return;
    const { words, tags } = searchable;
    const row = this.#index.words.get(id, noun, projectId, words.join(' '));
    this.#index.search.run(Number(row?.place), words.map((word) => nounWord(noun, word)).join(' '), tags.join(' '));
  }

  #append(events: PendingEvent[]): number {
    const before = Number(this.#head.get()?.seq ?? 0);
    events.forEach(({ projectId, at, body }, index) => {
      const seq = before + 1 + index;
      this.#save.event.run(seq, projectId, subjectIdOf(body), body.type, at, EVENT_VERSION, JSON.stringify(body));
    });
    return before;
  }
}

const TABLE_NAMES = Object.keys(TABLES) as TableName[];

function selection(find: LookupName): string {
  const { kind, table, where, fixed = {}, present, due, order = [], index } = declared(find);
  if (kind === 'lastRun')
    return 'SELECT runs.doc FROM tasks JOIN runs ON runs.id = tasks.last_run_id WHERE tasks.id = ?';
  if (kind === 'edges')
    return `SELECT task_id, depends_on FROM tasks JOIN dependencies ON dependencies.task_id = tasks.id
      WHERE project_id = ? AND stage <> 'done'`;
  if (where[0] === 'depends_on')
    return `SELECT tasks.doc FROM dependencies JOIN tasks ON tasks.id = dependencies.task_id
      WHERE dependencies.depends_on = ?`;
  const conditions = [
    ...where.map((column) => `${column} = ?`),
    ...Object.entries(fixed).map(([column, value]) => `${column} = ${Number(value)}`),
    ...(present === undefined ? [] : [`${present} IS NOT NULL`]),
    ...(due === undefined ? [] : [`${due} <= ?`]),
  ];
  const from = `${table}${index === undefined ? '' : ` INDEXED BY ${index}`}`;
  const sorted = order.length > 0 ? ` ORDER BY ${order.map(downwards).join(', ')}` : '';
  const what = kind === 'count' ? 'count(*) AS n' : 'doc';
  return `SELECT ${what} FROM ${from} WHERE ${conditions.join(' AND ')}${sorted}${kind === 'window' ? ' LIMIT ?' : ''}`;
}

const downwards = (column: string) => (column.startsWith('-') ? `${column.slice(1)} DESC` : column);

function insert(table: string, columns: string[]): string {
  return `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
}

function upsert(table: string, columns: string[]): string {
  const sets = columns.slice(1).map((column) => `${column} = excluded.${column}`);
  return `${insert(table, columns)} ON CONFLICT (id) DO UPDATE SET ${sets.join(', ')}`;
}
