import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { AppError } from '@tidemill/contract';

const MAX_BODY_BYTES = 10 * 1024 * 1024;

/**
 * Who may talk to the daemon. A web page in the person's browser can reach loopback too: the token keeps it out, the
 * Host check defeats a name that was rebound to 127.0.0.1, and the Origin check other pages.
 */
export function checkCaller(request: IncomingMessage, token: string, port: number): void {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
  if (!hosts.includes(request.headers.host ?? '')) {
    throw new AppError('forbidden', 'this Host is not served here', {
      hint: `Address the daemon as http://${hosts[0]}.`,
    });
  }
  const { origin } = request.headers;
  if (origin !== undefined && !hosts.some((host) => origin === `http://${host}`)) {
    throw new AppError('forbidden', 'pages of another origin may not call the daemon');
  }
  const given = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
  // Hashed first: the comparison needs equal lengths and must not tell how much of a guess was right.
  if (!timingSafeEqual(digest(given), digest(token))) {
    throw new AppError('unauthorized', 'the token is missing or wrong', {
      hint: 'Send "Authorization: Bearer …" with the token from daemon.json in the data folder.',
    });
  }
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
