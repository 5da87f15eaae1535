import { type Api, AppError } from '@tidemill/contract';
import { createClient } from '@tidemill/contract/client';

const TIMEOUT_MS = 10_000;

/** Needs no token: the browser sends the cookie that the link set. */
export const api: Api = createClient({ url: location.origin });

/** Adds a timeout, because a frozen daemon never responds. */
export const withTimeout = (signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);

export const isCode = (error: unknown, code: AppError['code']) => error instanceof AppError && error.code === code;

const TEMPORARY: AppError['code'][] = [
  ...(['internal', 'daemon_unreachable', 'unauthorized', 'store_failed', 'disk_full'] as const),
  // While the daemon is upgraded; then the page reloads itself.
  'version_mismatch',
];

/** Whether a retry may succeed. A refusal stays a refusal. */
export const isTemporary = (error: unknown) =>
  error !== null && (!(error instanceof AppError) || TEMPORARY.includes(error.code));

const RETRY_MS = 5000;

/** The interval of a repeated query; shorter after a failure. */
export const every =
  (ms: number | false) =>
  ({ state }: { state: { error: unknown } }) =>
    isTemporary(state.error) ? RETRY_MS : ms;
