import type { IncomingMessage } from 'node:http';
import { AppError } from '@tidemill/contract';

const MAX_BODY_BYTES = 10 * 1024 * 1024;

export interface Body {
  value: Record<string, unknown>;
  /** As it was sent. */
  text: string;
}

export async function readBody(request: IncomingMessage): Promise<Body> {
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
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (cause) {
    // Whoever sent it has left, or took longer than is waited for.
    throw cause instanceof AppError ? cause : new AppError('bad_input', 'the body was cut off', { cause });
  }
  const text = Buffer.concat(chunks).toString('utf8');
  const value = parseObject(text);
  // Only then is a walk through all of it worth its time; the same letters may stand for themselves.
  if (text.includes('\\u0000')) refuseNul(value);
  return { value, text };
}

/** No file name, argument or Postgres text can hold a NUL, so nothing behind the door has to think of it. */
export function refuseNul(input: unknown): void {
  // Without recursion: a body may be nested a million deep.
  const waiting = [input];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === 'string' && value.includes('\0')) {
      throw new AppError('bad_input', 'the input holds a NUL character', { hint: 'Leave it out.' });
    }
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, part] of Object.entries(value)) waiting.push(key, part);
  }
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
