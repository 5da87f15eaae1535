import { ChannelError, channelErrorOf, waitOf } from './channel-error.ts';

const TIMEOUT_MS = 10_000;
const SHOWN = 200;

export interface Post {
  url: string;
  body: string;
  headers?: Record<string, string>;
  signal: AbortSignal;
  /** What a 401, 403 or 404 means here. */
  ifDenied: string;
}

/** Posts JSON to another party's server and returns the response text. Redirects are not followed: they could lead anywhere. */
export async function post({ url, body, headers = {}, signal, ifDenied }: Post): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'tidemill', ...headers },
    body,
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  const text = await response.text();
  if (response.ok) return text;
  const { host } = new URL(url);
  const { status } = response;
  if (status >= 300 && status < 400)
    throw new ChannelError('denied', `${host} answered ${status}: it is somewhere else now`, {
      hint: 'Correct the address in the config file.',
    });
  const error = channelErrorOf(status, `${host} answered ${status}: ${text.slice(0, SHOWN)}`);
  throw new ChannelError(error.kind, error.message, {
    hint: error.kind === 'denied' ? ifDenied : '',
    waitMs: waitOf(response.headers),
  });
}
