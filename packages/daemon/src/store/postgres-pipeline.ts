import type pg from 'pg';

/** One prepared statement with its values, as the text Postgres reads. */
export interface PreparedCall {
  name: string;
  values: (string | null)[];
}
/** Values by position, as the text Postgres sent: the caller knows a prepared statement's columns. */
export type Rowset = (string | null)[][];

/**
 * Prepared statements sent in one packet, with one Sync at its end: one round trip, and nothing is parsed or described
 * again. The server executes them in order, so each sees what was committed while the previous ones waited for
 * locks. After an error it skips the rest, including COMMIT.
 *
 * `pg` passes the server's messages to the active query by these method names.
 */
class Pipeline implements pg.Submittable {
  readonly #steps: PreparedCall[];
  readonly #answers: Rowset[] = [];
  #rows: Rowset = [];
  readonly #settled = Promise.withResolvers<Rowset[]>();

  constructor(steps: PreparedCall[]) {
    this.#steps = steps;
  }

  get answers(): Promise<Rowset[]> {
    return this.#settled.promise;
  }

  submit({ stream }: pg.Connection): void {
    // Nothing is sent over a closed connection; `pg` informs the query when it notices.
    if (stream.writable) stream.write(packet(this.#steps));
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

export function ask(client: pg.Client, steps: PreparedCall[]): Promise<Rowset[]> {
  return client.query(new Pipeline(steps)).answers;
}

/** Bind and Execute for each step, then Sync: less than half the work of `pg`'s own writer, which creates a buffer for each. */
function packet(steps: PreparedCall[]): Buffer {
  const buffer = Buffer.allocUnsafe(steps.reduce((size, step) => size + mostBytes(step), SYNC.length));
  let end = 0;
  for (const { name, values } of steps) {
    const start = end + 1;
    buffer[end] = BIND;
    end = buffer.writeUInt8(0, start + 4);
    end += buffer.write(name, end);
    // No format codes: every value is text.
    end = buffer.writeUInt8(0, end);
    end = buffer.writeInt16BE(0, end);
    end = buffer.writeInt16BE(values.length, end);
    for (const value of values) {
      const bytes = value === null ? 0 : buffer.write(value, end + 4);
      end = buffer.writeInt32BE(value === null ? -1 : bytes, end) + bytes;
    }
    end = buffer.writeInt16BE(0, end);
    buffer.writeInt32BE(end - start, start);
    end += EXECUTE.copy(buffer, end);
  }
  end += SYNC.copy(buffer, end);
  return buffer.subarray(0, end);
}

const BIND = 'B'.charCodeAt(0);
const EXECUTE = Buffer.from('E\0\0\0\x09\0\0\0\0\0');
const SYNC = Buffer.from('S\0\0\0\x04');
const FRAME_BYTES = 30;

function mostBytes({ name, values }: PreparedCall): number {
  const texts = values.reduce((size, value) => size + 4 + 3 * (value?.length ?? 0), 0);
  return FRAME_BYTES + name.length + texts;
}

/** A document, already as JSON. */
export interface JsonText {
  json: string;
}
export type Value = string | number | null | JsonText;

/** A list becomes an array. Documents become a JSON array, because an array would have to escape their quotes. */
export function encode(value: Value | Value[]): string | null {
  if (Array.isArray(value))
    return isDocuments(value) ? `[${value.map(encode).join(',')}]` : `{${value.map(element).join(',')}}`;
  if (value === null) return null;
  if (typeof value === 'object') return value.json;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Error(`${value} cannot be stored`);
    return String(value);
  }
  if (value.includes('\0')) throw new Error('text with a zero byte cannot be stored');
  return value;
}

function isDocuments(values: Value[]): boolean {
  return typeof values[0] === 'object' && values[0] !== null;
}

function element(value: Value): string {
  const text = encode(value);
  if (text === null) return 'NULL';
  return typeof value === 'number' ? text : `"${text.replace(/["\\]/g, '\\$&')}"`;
}
