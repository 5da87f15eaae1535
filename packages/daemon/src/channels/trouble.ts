import { AppError } from '@tidemill/contract';

/**
 * `down` comes right by itself; `denied` needs a person, who must correct a token or an address; `refused` is about
 * this one message.
 */
export type TroubleKind = 'down' | 'denied' | 'refused';

export class ChannelTrouble extends AppError {
  readonly kind: TroubleKind;
  /** The other side said how long to wait. */
  readonly waitMs: number | null;
  constructor(kind: TroubleKind, message: string, more: { hint?: string; waitMs?: number | null } = {}) {
    super('channel_failed', message, { hint: more.hint, retriable: kind === 'down' });
    this.kind = kind;
    this.waitMs = more.waitMs ?? null;
  }
}

/** What an HTTP status means for a message. */
export function troubleOf(status: number, what: string, more: { hint?: string; waitMs?: number | null } = {}) {
  if (status === 401 || status === 403 || status === 404) return new ChannelTrouble('denied', what, more);
  if (status === 408 || status === 429 || status >= 500) return new ChannelTrouble('down', what, more);
  return new ChannelTrouble('refused', what, more);
}

/** `retry-after`, in seconds as everybody here sends it. */
export function waitOf(headers: Headers): number | null {
  const seconds = Number(headers.get('retry-after'));
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : null;
}
