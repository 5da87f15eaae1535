import { randomBytes } from 'node:crypto';
import { createRequestStateCodec } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createServer } from './server.ts';
import type { Session } from './session.ts';

export interface StdioParts {
  version: string;
  /** Standard output belongs to the protocol: this writes elsewhere. */
  onError(error: unknown, what: string): void;
}

/** Serves MCP on standard input and output, until the client closes them. */
export async function serveOnStdio(session: Session, { version, onError }: StdioParts): Promise<void> {
  const states = createRequestStateCodec({ key: randomBytes(32), bind: ({ mcpReq }) => mcpReq.method });
  const closed = new Promise((resolve) => process.stdin.once('close', resolve).once('end', resolve));
  const served = serveStdio(() => createServer(session, { version, states, onError }), {
    onerror: (error) => onError(error, 'a message of the client could not be handled'),
  });
  await closed;
  await served.close();
}
