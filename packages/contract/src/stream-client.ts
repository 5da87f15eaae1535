import type { Api } from './routes.ts';
import { STREAM_PATH, StreamMessage, type StreamRequest } from './stream.ts';

// First slice by the lead so that the page can be built against it (packages/web/src/shell/live.ts). The shape of
// openStream, Stream and StreamState stays; the stream helper replaces the inside.

export type StreamState = 'connecting' | 'live' | 'polling' | 'offline' | 'signed_out';

export interface StreamOptions {
  /** The daemon's address, `http://…`. */
  url: string;
  /** For polling while there is no socket. */
  api: Api;
  subscribe: Omit<Extract<StreamRequest, { type: 'subscribe' }>, 'type'>;
  onMessage(message: StreamMessage): void;
  onState(state: StreamState): void;
  open?(url: string): WebSocket;
}

export interface Stream {
  follow(run: string, offset: number): void;
  unfollow(run: string): void;
  close(): void;
}

export function openStream({ url, subscribe, onMessage, onState, open }: StreamOptions): Stream {
  const socket = (open ?? ((to) => new WebSocket(to)))(url.replace(/^http/, 'ws') + STREAM_PATH);
  const send = (request: StreamRequest) => socket.send(JSON.stringify(request));
  socket.onopen = () => send({ type: 'subscribe', ...subscribe });
  socket.onmessage = ({ data }) => {
    const message = StreamMessage.parse(JSON.parse(String(data)));
    if (message.type === 'ready') onState('live');
    onMessage(message);
  };
  socket.onclose = () => onState('offline');
  return {
    follow: (run, offset) => send({ type: 'follow', run, offset }),
    unfollow: (run) => send({ type: 'unfollow', run }),
    close: () => socket.close(),
  };
}
