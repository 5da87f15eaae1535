import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { createMcpHandler, type McpServer } from '@modelcontextprotocol/server';
import { type Caller, callerKey } from '@tidemill/contract';
import type { McpEndpoint } from './endpoint.ts';

/** A client needs one stream at most; the daemon has a thousand connections in all. */
const MAX_STREAMS = 100;

/**
 * Serves MCP over HTTP: the revision of 2026-07-28, and clients of 2025 without sessions. Host, Origin and token were
 * checked before. `create` makes a server per request.
 */
export function serveHttp(create: (caller: Caller) => McpServer, onError: (error: Error) => void): McpEndpoint {
  const handler = createMcpHandler(({ authInfo }) => create(authInfo!.extra!.caller as Caller), {
    maxSubscriptions: MAX_STREAMS,
    onerror: onError,
  });
  return {
    async answer(request, response, caller) {
      const abort = new AbortController();
      response.on('close', () => {
        if (!response.writableFinished) abort.abort();
      });
      const authInfo = { token: '', clientId: principalOf(caller), scopes: [], extra: { caller } };
      await reply(response, await handler.fetch(asRequest(request, abort.signal), { authInfo }));
    },
    close: () => handler.close(),
  };
}

/** Who the caller is, for what is bound to them. */
const principalOf = (caller: Caller) => (caller.run ? `run ${caller.run.runId}` : `token ${callerKey(caller)}`);

function asRequest(request: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    // The token stays here.
    if (name === 'authorization' || name === 'cookie' || value === undefined) continue;
    for (const each of [value].flat()) headers.append(name, each);
  }
  const { method = 'GET' } = request;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const body = hasBody ? { body: Readable.toWeb(request) as ReadableStream, duplex: 'half' as const } : {};
  return new Request(new URL(request.url ?? '/mcp', 'http://daemon'), { method, headers, signal, ...body });
}

/** Waits for slow readers, so that memory does not grow. */
async function reply(response: ServerResponse, answer: Response): Promise<void> {
  const plain = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
  response.writeHead(answer.status, { ...plain, ...Object.fromEntries(answer.headers) });
  if (answer.body === null) {
    response.end();
    return;
  }
  response.flushHeaders();
  const closed = once(response, 'close');
  for await (const chunk of answer.body) {
    if (response.destroyed) break;
    if (!response.write(chunk)) await Promise.race([once(response, 'drain'), closed]);
  }
  response.end();
}
