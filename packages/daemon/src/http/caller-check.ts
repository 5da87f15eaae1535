import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type AccessRole, AGENT_HEADER, AppError, type Caller, mayAct, plainLine } from '@tidemill/contract';
import { isLoopback, isOurHost, type Listener } from './listener.ts';

/** Cookies are not bound to a port, so the name distinguishes two daemons on one machine. */
export const cookieName = (port: number) => `tidemill-${port}`;

export function checkHost(request: IncomingMessage, door: Listener): void {
  if (isOurHost(request, door)) return;
  throw new AppError('forbidden', 'unknown Host header', {
    hint: `Use ${door.scheme}://${door.hosts[0]}, or start it with --allow-host NAME.`,
  });
}

/**
 * Identifies the caller: programs by a token, our own page by its cookie. Other web pages in the browser can reach
 * loopback too. The Origin check refuses them, also pages on another port of this machine, which browsers treat as the
 * same site and send our cookie. Call `checkHost` first.
 */
export async function checkCaller(request: IncomingMessage, door: Listener): Promise<Caller> {
  const { origin, authorization, host } = request.headers;
  const foreign = () => new AppError('forbidden', 'pages of other origins cannot call the daemon');
  const own = `${door.scheme}://${host?.toLowerCase()}`;
  if (origin !== undefined && origin !== own && !door.hosts.some((name) => origin === `${door.scheme}://${name}`))
    throw foreign();
  const caller = await callerOf(request, door);
  if (!caller) throw unauthorized(door, request);
  door.seats.connect(request.socket, caller);
  door.strangers.trust(request.socket);
  if (authorization !== undefined) return caller;
  const changes = request.method !== 'GET' && request.method !== 'HEAD';
  const site = request.headers['sec-fetch-site'] ?? 'same-origin';
  if ((changes && origin !== own) || (site !== 'same-origin' && site !== 'none')) throw foreign();
  return caller;
}

/** Checked again during a long response, because the token may have been revoked. */
export async function isWelcome(request: IncomingMessage, door: Listener, needed: AccessRole): Promise<boolean> {
  try {
    const caller = await callerOf(request, door);
    return caller !== null && mayAct(caller.role, needed);
  } catch (error) {
    return error instanceof AppError && error.retriable;
  }
}

function unauthorized(door: Listener, request: IncomingMessage): AppError {
  const isFar = door.isPublic && !isLoopback(request.socket.remoteAddress);
  return new AppError('unauthorized', 'the token is missing or wrong', {
    hint: isFar
      ? 'Send "Authorization: Bearer …" with a token from `tidemill token add`.'
      : 'Send "Authorization: Bearer …" with the token from daemon.json in the data folder.',
  });
}

/** The caller, and the agent that makes the request if it says so. */
export async function callerOf(request: IncomingMessage, door: Listener): Promise<Caller | null> {
  const caller = await ownerOf(request, door);
  const agent = request.headers[AGENT_HEADER];
  if (!caller || caller.run || typeof agent !== 'string') return caller;
  return { ...caller, agent: plainLine(decoded(agent)).slice(0, 100) || 'agent' };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // written by hand, with a lone %
  }
}

/** The owner of the token or cookie. With an Authorization header, the cookie is ignored. */
async function ownerOf(request: IncomingMessage, door: Listener): Promise<Caller | null> {
  const { headers } = request;
  if (headers.authorization !== undefined) {
    return tokenCaller(/^Bearer +(\S+)$/i.exec(headers.authorization)?.[1], request, door);
  }
  const start = `${cookieName(door.port)}=`;
  for (const cookie of (headers.cookie ?? '').split(/;\s*/)) {
    const caller = cookie.startsWith(start) && (await tokenCaller(cookie.slice(start.length), request, door));
    if (caller) return caller;
  }
  return null;
}

/** The daemon's own token works only from this machine, because only its user can read the file. */
export async function tokenCaller(
  given: string | undefined,
  request: IncomingMessage,
  door: Listener,
): Promise<Caller | null> {
  if (given === undefined || given === '') return null;
  if (isEqual(given, door.token)) {
    return !door.isPublic || isLoopback(request.socket.remoteAddress) ? { name: null, role: 'admin' } : null;
  }
  const caller = await door.callerOf(given);
  // An agent runs on this machine.
  return caller?.run && door.isPublic && !isLoopback(request.socket.remoteAddress) ? null : caller;
}

/** Hashed first, because the constant-time comparison needs equal lengths. */
function isEqual(given: string, token: string): boolean {
  const [guess, right] = [Buffer.from(given), Buffer.from(token)];
  return guess.length === right.length && timingSafeEqual(guess, right);
}
