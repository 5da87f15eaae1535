import { AppError, type ErrorCode, type EventBody } from '@tidemill/contract';
import type { Decision, Reply } from './command.ts';

export function refuse(code: ErrorCode, message: string, hint = ''): Decision & { ok: false } {
  return { ok: false, refusal: { code, message, hint } };
}

export function accept(...events: EventBody[]): Decision {
  return { ok: true, events };
}

/** A refusal becomes the error that every surface shows. */
export function unwrap(reply: Reply): Extract<Reply, { ok: true }> {
  if (reply.ok) return reply;
  throw new AppError(reply.refusal.code, reply.refusal.message, { hint: reply.refusal.hint });
}
