/** What one connection may cost, and how often many may be told. */
export interface StreamLimits {
  /** Between two batches of events; the first after a silence goes out at once. */
  batchMs: number;
  tasksMs: number;
  statusMs: number;
  /** The same when nothing happened but signs of life. */
  beatMs: number;
  /** The same when nothing happened at all: time alone turns a worker's health. */
  stillMs: number;
  /** Events per message, and per read of a connection that catches up. */
  page: number;
  /** How much of the end of the log is kept ready for those who just fell behind. */
  keptEvents: number;
  keptBytes: number;
  /** From here on nothing more is written to a connection… */
  fullBytes: number;
  /** …until it has read down to here… */
  drainedBytes: number;
  /** …for which it has this long. */
  patienceMs: number;
  pingMs: number;
  /** How long a token that was revoked may still listen. */
  welcomeMs: number;
  messageBytes: number;
  /** Requests of one connection that wait for their turn. */
  requests: number;
  follows: number;
}

export const STREAM_LIMITS: StreamLimits = {
  batchMs: 40,
  tasksMs: 100,
  statusMs: 220,
  beatMs: 2000,
  stillMs: 10_000,
  page: 500,
  keptEvents: 2000,
  keptBytes: 4 * 1024 * 1024,
  fullBytes: 1024 * 1024,
  drainedBytes: 256 * 1024,
  patienceMs: 60_000,
  pingMs: 20_000,
  welcomeMs: 2000,
  messageBytes: 64 * 1024,
  requests: 64,
  follows: 8,
};
