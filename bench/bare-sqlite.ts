import { DatabaseSync } from 'node:sqlite';

/** The least that claims a row durably: one UPDATE per claim and one per completion, each its own fsynced transaction. */
export class BareSqliteQueue {
  readonly #db: DatabaseSync;
  readonly #insert;
  readonly #claim;
  readonly #complete;

  constructor(file: string) {
    this.#db = new DatabaseSync(file);
    this.#db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
      CREATE TABLE jobs (id INTEGER PRIMARY KEY, state TEXT NOT NULL, doc TEXT NOT NULL) STRICT;
      CREATE INDEX jobs_ready ON jobs (id) WHERE state = 'ready';`);
    this.#insert = this.#db.prepare("INSERT INTO jobs (state, doc) VALUES ('ready', ?)");
    this.#claim = this.#db.prepare(
      "UPDATE jobs SET state = 'held' WHERE id = (SELECT id FROM jobs WHERE state = 'ready' ORDER BY id LIMIT 1) RETURNING id, doc",
    );
    this.#complete = this.#db.prepare("UPDATE jobs SET state = 'done' WHERE id = ?");
  }
  insert(doc: string): void {
    this.#insert.run(doc);
  }
  fill(count: number, doc: string): void {
    this.#db.exec('BEGIN');
    for (let n = 0; n < count; n += 1) this.insert(doc);
    this.#db.exec('COMMIT');
  }
  /** Claims and completes one; false when none is left. */
  next(): boolean {
    const job = this.#claim.get();
    if (job) this.#complete.run(job.id!);
    return job !== undefined;
  }
  close(): void {
    this.#db.close();
  }
}
