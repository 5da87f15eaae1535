import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { AppError, routes, STREAM_PATH } from '@tidemill/contract';
import { checkRole } from '../handlers/role.ts';
import type { Streams } from '../stream/streams.ts';
import { checkCaller, checkHost, isWelcome } from './caller-check.ts';
import type { Listener } from './listener.ts';
import { STATUS } from './response.ts';

/** Uses the same checks as every other request. Refusals are HTTP responses. */
export async function upgrade(
  streams: Streams,
  door: Listener,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): Promise<void> {
  socket.on('error', () => socket.destroy());
  try {
    await check(door, request);
  } catch (error) {
    refuse(socket, error);
    return;
  }
  await streams.accept(request, socket, head, () => isWelcome(request, door, 'viewer'));
}

async function check(door: Listener, request: IncomingMessage): Promise<void> {
  checkHost(request, door);
  const caller = await checkCaller(request, door);
  const path = (request.url ?? '/').replace(/\?.*$/s, '');
  if (path !== STREAM_PATH) throw new AppError('not_found', 'this address has no WebSocket');
  checkRole(caller, routes.events, `GET ${STREAM_PATH}`);
  door.seats.open(request.socket, caller);
}

function refuse(socket: Duplex, error: unknown): void {
  const { code, message, hint } =
    error instanceof AppError ? error : new AppError('internal', 'internal error in the daemon');
  const body = JSON.stringify({ error: { code, message, hint } });
  socket.end(
    [
      `HTTP/1.1 ${STATUS[code] ?? 500} Refused`,
      'connection: close',
      'content-type: application/json; charset=utf-8',
      'cache-control: no-store',
      `content-length: ${Buffer.byteLength(body)}`,
      '',
      body,
    ].join('\r\n'),
  );
}
