import { type Api, AppError } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';

const PATIENCE_MS = 10_000;

/** Without a token: the browser sends the cookie that opening the link has set. */
export const api: Api = createClient({ url: location.origin });

/** A daemon that is frozen does not answer either. */
export const soon = (signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);

export const isCode = (error: unknown, code: AppError['code']) => error instanceof AppError && error.code === code;

const TROUBLE: AppError['code'][] = ['internal', 'daemon_unreachable', 'unauthorized', 'store_failed', 'disk_full'];

/** Something that may be over in a moment, as opposed to a refusal, which stays one. */
export const isTrouble = (error: unknown) =>
  error !== null && (!(error instanceof AppError) || TROUBLE.includes(error.code));

const RETRY_MS = 5000;

/** For a reading that is repeated: so often, or soon after it failed. */
export const every =
  (ms: number | false) =>
  ({ state }: { state: { error: unknown } }) =>
    isTrouble(state.error) ? RETRY_MS : ms;
