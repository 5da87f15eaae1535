import type pg from 'pg';

/** One prepared statement with its values, as the text Postgres reads. */
export interface Step {
  name: string;
  values: (string | null)[];
}
/** Values by position, as the text Postgres sent: a prepared statement's columns are known to whoever wrote it. */
export type Answer = (string | null)[][];

/**
 * Prepared statements sent in one packet, with one Sync at its end: one round trip, and nothing is parsed or described
 * again. The server works them off one after the other, so each sees what was committed while its predecessors waited
 * for locks. After an error it skips the rest, the COMMIT among them.
 *
 * `pg` hands the server's messages to whatever query is under way, by these method names.
 */
class Pipeline implements pg.Submittable {
  readonly #steps: Step[];
  readonly #answers: Answer[] = [];
  #rows: Answer = [];
  readonly #settled = Promise.withResolvers<Answer[]>();

  constructor(steps: Step[]) {
    this.#steps = steps;
  }

  get answers(): Promise<Answer[]> {
    return this.#settled.promise;
  }

  submit(connection: pg.Connection): void {
    connection.stream.cork();
    try {
      for (const { name, values } of this.#steps) {
        connection.bind({ statement: name, values }, true);
        connection.execute(null, true);
      }
      connection.sync();
    } finally {
      connection.stream.uncork();
    }
  }

  handleDataRow({ fields }: { fields: (string | null)[] }): void {
    this.#rows.push(fields);
  }
  handleCommandComplete(): void {
    this.#answers.push(this.#rows);
    this.#rows = [];
  }
  handleError(error: Error): void {
    this.#settled.reject(error);
  }
  handleReadyForQuery(): void {
    this.#settled.resolve(this.#answers);
  }
}

export function ask(client: pg.Client, steps: Step[]): Promise<Answer[]> {
  return client.query(new Pipeline(steps)).answers;
}

export type Value = string | number | null;

/** A list becomes an array: a batch of one and a batch of 256 are the same statements. */
export function encode(value: Value | Value[]): string | null {
  if (Array.isArray(value)) return `{${value.map(element).join(',')}}`;
  if (value === null) return null;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Error(`${value} cannot be stored`);
    return String(value);
  }
  if (value.includes('\0')) throw new Error('text with a zero byte cannot be stored');
  return value;
}

function element(value: Value): string {
  const text = encode(value);
  if (text === null) return 'NULL';
  return typeof value === 'number' ? text : `"${text.replace(/["\\]/g, '\\$&')}"`;
}
