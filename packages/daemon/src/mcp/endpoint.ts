import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequestStateCodec } from '@modelcontextprotocol/server';
import type { Caller } from '@tidemill/contract';
import type { Services } from '../handlers/context.ts';
import { callerSession } from './caller-session.ts';
import { serveHttp } from './http.ts';
import { createServer } from './server.ts';

export interface McpSurroundings {
  services(): Services;
  version: string;
  onError(error: unknown, what: string): void;
}

export interface McpEndpoint {
  answer(request: IncomingMessage, response: ServerResponse, caller: Caller): Promise<void>;
  close(): Promise<void>;
}

/** `/mcp` of the daemon: the tools for every caller that the daemon knows. */
export function openMcpEndpoint({ services, version, onError }: McpSurroundings): McpEndpoint {
  // For this process only: a form that was open over a restart is asked for again.
  const states = createRequestStateCodec({
    key: randomBytes(32),
    bind: ({ mcpReq, http }) => `${mcpReq.method}\0${http?.authInfo?.clientId ?? ''}`,
  });
  return serveHttp(
    (caller) => createServer(callerSession(services(), caller), { version, states, onError }),
    (error) => onError(error, 'an MCP request was refused'),
  );
}
