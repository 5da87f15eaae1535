import type { ErrorCode, EventBody } from '@tidemill/contract';
import type { Decision } from './command.ts';

export function refuse(code: ErrorCode, message: string, hint = ''): Decision {
  return { ok: false, refusal: { code, message, hint } };
}

export function accept(...events: EventBody[]): Decision {
  return { ok: true, events };
}
