import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { AppError } from '@tidemill/contract';

const MAX_BODY_BYTES = 10 * 1024 * 1024;

const hostsOf = (port: number) => [`127.0.0.1:${port}`, `localhost:${port}`];

/** Cookies know no ports: the name keeps two daemons on one machine apart. */
export const cookieName = (port: number) => `tidemill-${port}`;

/** A name that was rebound to 127.0.0.1 reaches us too; its Host tells. */
export function checkHost(request: IncomingMessage, port: number): void {
  if (hostsOf(port).includes(request.headers.host ?? '')) return;
  throw new AppError('forbidden', 'this Host is not served here', {
    hint: `Address the daemon as http://${hostsOf(port)[0]}.`,
  });
}

/**
 * Who may talk to the daemon: programs by the token, our own page by the cookie it was exchanged for. A web page in the
 * person's browser can reach loopback as well; the Origin check keeps others out, also one on another port of this
 * machine, which browsers count as the same site and hand our cookie.
 */
export function checkCaller(request: IncomingMessage, token: string, port: number): void {
  const { origin, authorization, host } = request.headers;
  const foreign = () => new AppError('forbidden', 'pages of another origin may not call the daemon');
  if (origin !== undefined && !hostsOf(port).some((own) => origin === `http://${own}`)) throw foreign();
  if (!isKnown(request, token, port)) {
    throw new AppError('unauthorized', 'the token is missing or wrong', {
      hint: 'Send "Authorization: Bearer …" with the token from daemon.json in the data folder.',
    });
  }
  if (authorization !== undefined) return;
  const changes = request.method !== 'GET' && request.method !== 'HEAD';
  const site = request.headers['sec-fetch-site'] ?? 'same-origin';
  if ((changes && origin !== `http://${host}`) || (site !== 'same-origin' && site !== 'none')) throw foreign();
}

/** By token or cookie. An Authorization header decides alone. */
export function isKnown({ headers }: IncomingMessage, token: string, port: number): boolean {
  if (headers.authorization !== undefined) return isToken(/^Bearer (.+)$/.exec(headers.authorization)?.[1], token);
  const start = `${cookieName(port)}=`;
  const cookies = (headers.cookie ?? '').split(/;\s*/).filter((cookie) => cookie.startsWith(start));
  return cookies.some((cookie) => isToken(cookie.slice(start.length), token));
}

/** Hashed first: the comparison needs equal lengths and must not tell how much of a guess was right. */
export function isToken(given: string | undefined, token: string): boolean {
  return timingSafeEqual(digest(given ?? ''), digest(token));
}

const digest = (text: string) => createHash('sha256').update(text).digest();

export async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json\b/i.test(type)) {
    throw new AppError('bad_input', 'the body must be JSON', { hint: 'Send content-type: application/json.' });
  }
  const tooLarge = () =>
    new AppError('too_large', `the body is larger than ${MAX_BODY_BYTES / 1024 / 1024} MB`, {
      hint: 'Split it into smaller pieces.',
    });
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return parseObject(Buffer.concat(chunks).toString('utf8'));
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text === '' ? '{}' : text);
  } catch (cause) {
    throw new AppError('bad_input', `the body is not JSON: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new AppError('bad_input', 'the body must be a JSON object');
}
