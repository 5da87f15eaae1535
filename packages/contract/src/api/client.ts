import { z } from 'zod';
import { AGENT_HEADER } from '../access/access.ts';
import { AppError, ErrorCode, Refusal } from './errors.ts';
import { type Api, type CallOptions, type RouteName, routes } from './routes.ts';

const ErrorEnvelope = z.object({ error: Refusal.extend({ code: ErrorCode.catch('internal') }) });

export interface ClientOptions {
  url: string;
  /** Not needed by the daemon's own page, which has a cookie. */
  token?: string;
  /** The agent that makes the calls. Then it decides nothing, whatever the token may do. */
  agent?: string;
  fetch?: typeof fetch;
}

/** A typed function per route, over fetch. A refusal of the daemon is thrown as an AppError with the daemon's code. */
export function createClient(options: ClientOptions): Api {
  const entries = (Object.keys(routes) as RouteName[]).map((name) => [
    name,
    (input: Record<string, unknown>, signal?: AbortSignal, more: CallOptions = {}) =>
      routes[name].stream ? lines(options, name, input, signal) : once(options, name, input, signal, more),
  ]);
  return Object.fromEntries(entries) as Api;
}

async function once(
  options: ClientOptions,
  name: RouteName,
  input: Record<string, unknown>,
  signal: AbortSignal | undefined,
  more: CallOptions,
) {
  const response = await send(options, name, input, signal, more);
  let answer: unknown;
  try {
    answer = await response.json();
  } catch (error) {
    // The daemon always sends JSON, so this response was cut off.
    throw unreachable(options.url, error);
  }
  return readAs(name, answer);
}

async function* lines(options: ClientOptions, name: RouteName, input: Record<string, unknown>, signal?: AbortSignal) {
  const response = await send(options, name, input, signal);
  const decoder = new TextDecoder();
  // Not `for await` over the body: some browsers do not support it.
  const reader = response.body!.getReader();
  let rest = '';
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      const parts = (rest + decoder.decode(part.value, { stream: true })).split('\n');
      rest = parts.pop() ?? '';
      // A blank line is the daemon's heartbeat.
      for (const line of parts) if (line !== '') yield readAs(name, JSON.parse(line));
    }
  } catch (error) {
    if (!signal?.aborted) throw unreachable(options.url, error);
  } finally {
    // A reader that stops early must release the connection. A broken connection needs no cancel.
    await reader.cancel().catch(() => undefined);
  }
}

/** An answer in another form than this program knows: the daemon has another version. */
function readAs(name: RouteName, answer: unknown) {
  const read = routes[name].output.safeParse(answer);
  if (read.success) return read.data;
  throw new AppError('version_mismatch', `the daemon's answer to "${name}" cannot be read`, {
    hint: 'The daemon has another version than this program. Update the older one, then restart the daemon.',
    cause: read.error,
  });
}

async function send(
  options: ClientOptions,
  name: RouteName,
  input: Record<string, unknown>,
  signal?: AbortSignal,
  { idempotencyKey }: CallOptions = {},
) {
  const { method, path } = routes[name];
  const rest = { ...input };
  const filled = path.replace(/:(\w+)/g, (_, key: string) => {
    const value = rest[key];
    delete rest[key];
    return encodeURIComponent(String(value));
  });
  const url = new URL(filled, options.url);
  if (method === 'GET') {
    for (const [key, value] of Object.entries(rest)) if (value !== undefined) url.searchParams.set(key, String(value));
  }
  let response: Response;
  try {
    response = await (options.fetch ?? fetch)(url, {
      method,
      headers: {
        ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
        ...(options.agent === undefined ? {} : { [AGENT_HEADER]: encodeURIComponent(options.agent) }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        'content-type': 'application/json',
      },
      body: method === 'GET' ? undefined : JSON.stringify(rest),
      signal,
    });
  } catch (error) {
    throw unreachable(options.url, error);
  }
  if (!response.ok) throw await refusalOf(response);
  return response;
}

async function refusalOf(response: Response): Promise<AppError> {
  const text = await response.text();
  const parsed = ErrorEnvelope.safeParse(jsonOrNull(text));
  if (parsed.success) {
    const { code, message, hint } = parsed.data.error;
    return new AppError(code, message, { hint });
  }
  return new AppError('internal', `the daemon returned ${response.status} without an explanation`, {
    hint: 'See daemon.log in the data folder.',
  });
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function unreachable(url: string, cause: unknown): unknown {
  if (cause instanceof AppError) return cause;
  return new AppError('daemon_unreachable', `the daemon at ${url} does not answer`, {
    hint: 'Start it with `tidemill up`, or see daemon.log in the data folder.',
    retriable: true,
    cause,
  });
}
