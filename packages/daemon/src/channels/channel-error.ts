import { AppError } from '@tidemill/contract';

/**
 * `down` recovers without help; `denied` needs a person to fix a token or an address; `refused` concerns only this
 * message.
 */
export type ChannelErrorKind = 'down' | 'denied' | 'refused';

export class ChannelError extends AppError {
  readonly kind: ChannelErrorKind;
  /** The waiting time that the server asked for. */
  readonly waitMs: number | null;
  constructor(kind: ChannelErrorKind, message: string, more: { hint?: string; waitMs?: number | null } = {}) {
    super('channel_failed', message, { hint: more.hint, retriable: kind === 'down' });
    this.kind = kind;
    this.waitMs = more.waitMs ?? null;
  }
}

/** The error for an HTTP status. */
export function channelErrorOf(status: number, what: string, more: { hint?: string; waitMs?: number | null } = {}) {
  if (status === 401 || status === 403 || status === 404) return new ChannelError('denied', what, more);
  if (status === 408 || status === 429 || status >= 500) return new ChannelError('down', what, more);
  return new ChannelError('refused', what, more);
}

/** The `retry-after` header; all these services send seconds. */
export function waitOf(headers: Headers): number | null {
  const seconds = Number(headers.get('retry-after'));
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : null;
}
