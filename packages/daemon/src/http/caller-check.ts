import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type AccessRole, AppError, type Caller, mayAct } from '@tidemill/contract';
import { type Door, isLoopback, isOurHost } from './door.ts';

/** Cookies know no ports: the name keeps two daemons on one machine apart. */
export const cookieName = (port: number) => `tidemill-${port}`;

export function checkHost(request: IncomingMessage, door: Door): void {
  if (isOurHost(request, door)) return;
  throw new AppError('forbidden', 'this Host is not served here', {
    hint: `Address the daemon as ${door.scheme}://${door.hosts[0]}, or start it with --allow-host NAME.`,
  });
}

/**
 * Who may talk to the daemon: programs by a token, our own page by the cookie it was exchanged for. A web page in the
 * person's browser can reach loopback as well; the Origin check keeps others out, also one on another port of this
 * machine, which browsers count as the same site and hand our cookie. Comes after `checkHost`.
 */
export async function checkCaller(request: IncomingMessage, door: Door): Promise<Caller> {
  const { origin, authorization, host } = request.headers;
  const foreign = () => new AppError('forbidden', 'pages of another origin may not call the daemon');
  const own = `${door.scheme}://${host?.toLowerCase()}`;
  if (origin !== undefined && origin !== own && !door.hosts.some((name) => origin === `${door.scheme}://${name}`))
    throw foreign();
  const caller = await callerOf(request, door);
  if (!caller) throw unauthorized(door, request);
  door.strangers.trust(request.socket);
  if (authorization !== undefined) return caller;
  const changes = request.method !== 'GET' && request.method !== 'HEAD';
  const site = request.headers['sec-fetch-site'] ?? 'same-origin';
  if ((changes && origin !== own) || (site !== 'same-origin' && site !== 'none')) throw foreign();
  return caller;
}

export function checkRole(caller: Caller, needed: AccessRole, what: string): void {
  if (mayAct(caller.role, needed)) return;
  throw new AppError('forbidden', `${what} needs the role ${needed}, and this token has the role ${caller.role}`, {
    hint: `Use a token of that role; an admin makes one: tidemill token add NAME --role ${needed}`,
  });
}

/**
 * Asked again while an answer goes on and on: its token may have been revoked since. While the store is away that cannot
 * be known, and nothing can be read from it either: then they stay.
 */
export async function isWelcome(request: IncomingMessage, door: Door, needed: AccessRole): Promise<boolean> {
  try {
    const caller = await callerOf(request, door);
    return caller !== null && mayAct(caller.role, needed);
  } catch (error) {
    return error instanceof AppError && error.retriable;
  }
}

function unauthorized(door: Door, request: IncomingMessage): AppError {
  const isFar = door.isPublic && !isLoopback(request.socket.remoteAddress);
  return new AppError('unauthorized', 'the token is missing or wrong', {
    hint: isFar
      ? 'Send "Authorization: Bearer …" with a token that `tidemill token add` has made.'
      : 'Send "Authorization: Bearer …" with the token from daemon.json in the data folder.',
  });
}

/** By token or cookie. An Authorization header decides alone. */
export async function callerOf(request: IncomingMessage, door: Door): Promise<Caller | null> {
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

/** The daemon's own token is for whoever may read its file, and that is nobody on another machine. */
export async function tokenCaller(
  given: string | undefined,
  request: IncomingMessage,
  door: Door,
): Promise<Caller | null> {
  if (given === undefined || given === '') return null;
  if (isEqual(given, door.token)) {
    return !door.isPublic || isLoopback(request.socket.remoteAddress) ? { name: null, role: 'admin' } : null;
  }
  return door.callerOf(given);
}

/** In a time that does not tell how much of a guess was right. How long the token is is no secret. */
function isEqual(given: string, token: string): boolean {
  const [guess, right] = [Buffer.from(given), Buffer.from(token)];
  return guess.length === right.length && timingSafeEqual(guess, right);
}
