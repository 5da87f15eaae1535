import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { AppError, type ErrorCode } from '@tidemill/contract';

/** A stream sends something at least this often, so that neither side times out. */
const KEEP_ALIVE_MS = 30_000;
/** How long a revoked token can still follow a stream. */
const RECHECK_MS = 2000;

export const STATUS: Partial<Record<ErrorCode, number>> = {
  bad_input: 400,
  bad_config: 400,
  unknown_pipeline: 400,
  not_a_repository: 400,
  no_commits: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  no_project: 404,
  conflict: 409,
  conflicts_open: 409,
  stale_lease: 409,
  wrong_stage: 409,
  dependency_cycle: 409,
  evidence_missing: 409,
  daemon_running: 409,
  already_answered: 409,
  budget_exhausted: 409,
  worker_paused: 409,
  worker_busy: 409,
  nothing_ready: 409,
  window_exhausted: 409,
  daemon_unreachable: 503,
  too_large: 413,
  too_many: 429,
  disk_full: 507,
  channel_failed: 502,
  tracker_failed: 502,
};

const PLAIN = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

export function send(
  response: ServerResponse,
  status: number,
  value: unknown,
  more: Record<string, string> = {},
): void {
  sendJson(response, status, JSON.stringify(value), more);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: string,
  more: Record<string, string> = {},
): void {
  response.writeHead(status, {
    ...PLAIN,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    ...more,
  });
  response.end(body);
}

export function sendText(response: ServerResponse, type: string, text: string): void {
  response.writeHead(200, { ...PLAIN, 'content-type': type });
  response.end(text);
}

/** One JSON object per line, or per server-sent event. Waits for slow readers, so that memory does not grow. */
export async function sendStream(
  response: ServerResponse,
  items: AsyncIterable<unknown>,
  { isSse, signal, isWelcome }: { isSse: boolean; signal: AbortSignal; isWelcome(): Promise<boolean> },
): Promise<void> {
  response.writeHead(200, {
    ...PLAIN,
    'content-type': isSse ? 'text/event-stream; charset=utf-8' : 'application/x-ndjson; charset=utf-8',
  });
  response.flushHeaders();
  const alive = setInterval(() => response.write(isSse ? ':\n\n' : '\n'), KEEP_ALIVE_MS);
  const recheck = setInterval(() => {
    void isWelcome().then((isStill) => isStill || response.destroy());
  }, RECHECK_MS);
  try {
    for await (const item of items) {
      if (!response.write(framed(item, isSse))) await once(response, 'drain', { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    clearInterval(alive);
    clearInterval(recheck);
  }
  response.end();
}

function framed(value: unknown, isSse: boolean): string {
  const json = JSON.stringify(value);
  if (!isSse) return `${json}\n`;
  const id = typeof value === 'object' && value !== null && 'seq' in value ? `id: ${value.seq}\n` : '';
  return `${id}data: ${json}\n\n`;
}

export function refuse(
  response: ServerResponse,
  error: unknown,
  onError: (error: unknown, what: string) => void,
): void {
  if (!(error instanceof AppError)) onError(error, 'a request failed');
  // The status is already sent. Closing the connection tells the client that the response is incomplete.
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const { code, message, hint } =
    error instanceof AppError
      ? error
      : {
          code: 'internal' as const,
          message: 'internal error in the daemon',
          hint: 'See daemon.log in the data folder.',
        };
  // The rest of the body is not read, or the connection is one too many.
  if (code === 'too_large' || code === 'too_many') response.setHeader('connection', 'close');
  send(response, STATUS[code] ?? 500, { error: { code, message, hint } });
}
