import type { IncomingMessage } from 'node:http';
import { AppError } from '@tidemill/contract';

const MAX_BODY_BYTES = 10 * 1024 * 1024;

export interface Body {
  value: Record<string, unknown>;
  /** The body as it was sent. */
  text: string;
}

export async function readBody(request: IncomingMessage): Promise<Body> {
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/json\b/i.test(type)) {
    throw new AppError('bad_input', 'the body must be JSON', { hint: 'Send content-type: application/json.' });
  }
  const text = (await readBytes(request, MAX_BODY_BYTES)).toString('utf8');
  const value = parseObject(text);
  // A cheap test first; the text may also contain these characters escaped.
  if (text.includes('\\u0000')) refuseNul(value);
  return { value, text };
}

/** The body as it was sent, up to a size. */
export async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const tooLarge = () =>
    new AppError('too_large', `the body is larger than ${maxBytes / 1024 / 1024} MB`, {
      hint: 'Split it into smaller requests.',
    });
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (cause) {
    // The client disconnected or timed out.
    throw cause instanceof AppError ? cause : new AppError('bad_input', 'the body is incomplete', { cause });
  }
  return Buffer.concat(chunks);
}

/** File names, arguments and Postgres texts cannot contain NUL, so it is refused here for all handlers. */
export function refuseNul(input: unknown): void {
  // Not recursive, because a body may be nested a million levels deep.
  const waiting = [input];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === 'string' && value.includes('\0')) {
      throw new AppError('bad_input', 'the input contains a NUL character', { hint: 'Remove it.' });
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
