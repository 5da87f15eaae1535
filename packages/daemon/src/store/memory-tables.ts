import {
  columnOf,
  compareBy,
  declared,
  keyOf,
  keysFor,
  LOOKUPS,
  type Lookup,
  type LookupName,
  TABLES,
  type TableName,
  type TableRows,
} from '@tidemill/core';

type Row = TableRows[TableName];

const INDEXED = (Object.keys(LOOKUPS) as LookupName[]).filter((find) => {
  const { kind, where } = declared(find);
  return (kind === 'rows' || kind === 'count' || kind === 'window') && where[0] !== 'id';
});

/** Rows in maps, with an index for each lookup, like the databases. */
export class MemoryTables {
  readonly #rows = Object.fromEntries(Object.keys(TABLES).map((table) => [table, new Map()])) as {
    [T in TableName]: Map<string, TableRows[T]>;
  };
  readonly #indexes = new Map<LookupName, Map<string, Set<string>>>(INDEXED.map((find) => [find, new Map()]));

  rows<T extends TableName>(table: T): ReadonlyMap<string, TableRows[T]> {
    return this.#rows[table];
  }

  put(table: TableName, row: Row): void {
    this.#forget(table, row.id);
    (this.#rows[table] as Map<string, Row>).set(row.id, row);
    this.#each(table, row, (ids) => ids.add(row.id));
  }

  remove(table: TableName, id: string): void {
    this.#forget(table, id);
    this.#rows[table].delete(id);
  }

  /** The matching rows, in the order of a database. */
  find(lookup: Lookup, now: number): Row[] {
    const { table, where, order = ['id'], due, kind } = declared(lookup.find);
    const rows = this.#rows[table] as Map<string, Row>;
    if (where[0] === 'id') {
      const row = rows.get(String(lookup.by[0]));
      return row ? [row] : [];
    }
    const ids = this.#indexes.get(lookup.find)?.get(keyOf(lookup)) ?? new Set();
    const found = [...ids].map((id) => rows.get(id)!).sort((a, b) => compareBy(table, order, a, b));
    if (kind !== 'window') return found;
    const isDue = (row: Row) => due === undefined || Number(columnOf(table, due, row)) <= now;
    return found.filter(isDue).slice(0, Number(lookup.by.at(-1)));
  }

  #forget(table: TableName, id: string): void {
    const before = this.#rows[table].get(id);
    if (before) this.#each(table, before, (ids) => ids.delete(id));
  }

  #each(table: TableName, row: Row, change: (ids: Set<string>) => void): void {
    for (const [find, index] of this.#indexes) {
      if (declared(find).table !== table) continue;
      for (const key of keysFor(find, row)) {
        const ids = index.get(key) ?? new Set();
        change(ids);
        if (ids.size > 0) index.set(key, ids);
        else index.delete(key);
      }
    }
  }
}
