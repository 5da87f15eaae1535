import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { createIds, systemClock } from '../../packages/daemon/src/clock.ts';
import type { Services } from '../../packages/daemon/src/handlers/context.ts';
import type { Store } from '../../packages/daemon/src/ports.ts';
import { openStore } from '../../packages/daemon/src/store/open.ts';
import type { StreamLimits } from '../../packages/daemon/src/stream/limits.ts';
import { Streams } from '../../packages/daemon/src/stream/streams.ts';

interface ServedStreams {
  url: string;
  store: Store;
  sockets: Duplex[];
  close(): Promise<void>;
}

interface Options {
  /** Short enough for a test. */
  limits: StreamLimits;
  isWelcome?: () => Promise<boolean>;
  /** Faults between the streams and the store. */
  wrap?(store: Store): Store;
  onError?(error: unknown): void;
}

/** The streams by themselves, over the store in this file. */
export async function serveStreams(file: string, options: Options): Promise<ServedStreams> {
  const store = await openStore({ url: file, clock: systemClock, ids: createIds(systemClock) });
  const seen = options.wrap?.(store) ?? store;
  const fail = (error: unknown) => {
    throw error;
  };
  const streams = new Streams({
    services: () => ({ store: seen, machine: { reactors: null } }) as unknown as Services,
    onError: options.onError ?? fail,
    limits: options.limits,
  });
  const server = createServer().listen(0, '127.0.0.1');
  const sockets: Duplex[] = [];
  server.on('upgrade', (request, socket, head) => {
    sockets.push(socket);
    void streams.accept(request, socket, head, options.isWelcome ?? (async () => true));
  });
  await once(server, 'listening');
  const close = async () => {
    await streams.close();
    server.close();
    await store.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, store, sockets, close };
}
