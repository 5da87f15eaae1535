import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '@tidemill/contract';
import type { McpEndpoint, McpSurroundings } from '../mcp/endpoint.ts';

/** The MCP server of a daemon. It is loaded by its first request: most daemons never get one. */
export class LazyMcp {
  readonly #around: McpSurroundings;
  #endpoint: Promise<McpEndpoint> | null = null;

  constructor(around: McpSurroundings) {
    this.#around = around;
  }

  async answer(request: IncomingMessage, response: ServerResponse, caller: Caller): Promise<void> {
    this.#endpoint ??= import('../mcp/endpoint.ts').then(({ openMcpEndpoint }) => openMcpEndpoint(this.#around));
    return (await this.#endpoint).answer(request, response, caller);
  }

  async close(): Promise<void> {
    await (await this.#endpoint)?.close();
  }
}
