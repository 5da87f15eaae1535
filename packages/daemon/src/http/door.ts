import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import type { Caller } from '@tidemill/contract';
import type { Strangers } from './strangers.ts';

/** One address the daemon listens on: by which names it is called, and what opens it. */
export interface Door {
  scheme: 'http' | 'https';
  port: number;
  /** Values of Host that are meant for us. */
  hosts: string[];
  /** Others than this machine reach it. */
  isPublic: boolean;
  /** The daemon's own. */
  token: string;
  /** Whose token it is that a person has given out. */
  callerOf(token: string): Promise<Caller | null>;
  strangers: Strangers;
}

/** Node's own test compiles a long expression, which the daemon's start need not wait for. */
const isSixAddress = (name: string) => name.includes(':') && isIPv6(name);

const DEFAULT_PORT = { http: 80, https: 443 };

/** A Host for each name; a name may carry a port of its own, where something in between maps ports. */
export function hostsFor(names: string[], scheme: Door['scheme'], port: number): string[] {
  return names.flatMap((name) => {
    if (/:\d+$/.test(name) && !isSixAddress(name)) return [name];
    const bare = isSixAddress(name) ? `[${name}]` : name;
    return port === DEFAULT_PORT[scheme] ? [bare, `${bare}:${port}`] : [`${bare}:${port}`];
  });
}

/** An address as Node reports it: an IPv4 one may come in the clothes of IPv6. */
const plainAddress = (address: string | undefined) => (address ?? '').replace(/^::ffff:(?=\d+\.)/i, '');

export function isLoopback(address: string | undefined): boolean {
  const plain = plainAddress(address);
  return plain === '::1' || /^127(\.\d{1,3}){3}$/.test(plain);
}

/**
 * A name that was rebound to our address reaches us too; its Host tells. An address instead of a name cannot be rebound:
 * on a public door the very one that the connection arrived at is ours.
 */
export function isOurHost(request: IncomingMessage, door: Door): boolean {
  const host = (request.headers.host ?? '').toLowerCase();
  if (door.hosts.includes(host)) return true;
  return door.isPublic && hostsFor([plainAddress(request.socket.localAddress)], door.scheme, door.port).includes(host);
}
