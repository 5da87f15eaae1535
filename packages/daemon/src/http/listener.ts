import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import type { Caller } from '@tidemill/contract';
import type { AnonymousLimit } from './anonymous-limit.ts';
import type { ConnectionLimits } from './connection-limits.ts';

/** One address that the daemon listens on, with its host names and tokens. */
export interface Listener {
  scheme: 'http' | 'https';
  port: number;
  /** Accepted values of the Host header. */
  hosts: string[];
  /** Other machines can reach it. */
  isPublic: boolean;
  /** The daemon's own token. */
  token: string;
  /** The owner of an access token. */
  callerOf(token: string): Promise<Caller | null>;
  strangers: AnonymousLimit;
  seats: ConnectionLimits;
}

/** Node's own test compiles a long expression, which the daemon's start need not wait for. */
const isSixAddress = (name: string) => name.includes(':') && isIPv6(name);

const DEFAULT_PORT = { http: 80, https: 443 };

/** The Host value of each name. A name may include a port, if a proxy maps ports. */
export function hostsFor(names: string[], scheme: Listener['scheme'], port: number): string[] {
  return names.flatMap((name) => {
    if (/:\d+$/.test(name) && !isSixAddress(name)) return [name];
    const bare = isSixAddress(name) ? `[${name}]` : name;
    return port === DEFAULT_PORT[scheme] ? [bare, `${bare}:${port}`] : [`${bare}:${port}`];
  });
}

/** Node may report an IPv4 address in IPv6 form. */
const plainAddress = (address: string | undefined) => (address ?? '').replace(/^::ffff:(?=\d+\.)/i, '');

export function isLoopback(address: string | undefined): boolean {
  const plain = plainAddress(address);
  return plain === '::1' || /^127(\.\d{1,3}){3}$/.test(plain);
}

/**
 * Protects against DNS rebinding: an attacker's name that resolves to our address has another Host. An IP address cannot
 * be rebound, so a public address accepts its own IP.
 */
export function isOurHost(request: IncomingMessage, door: Listener): boolean {
  const host = (request.headers.host ?? '').toLowerCase();
  if (door.hosts.includes(host)) return true;
  return door.isPublic && hostsFor([plainAddress(request.socket.localAddress)], door.scheme, door.port).includes(host);
}
