import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export type Era = 'legacy' | 'modern';

const MODERN = '2026-07-28';

/** A client of the Model Context Protocol, of the revision of 2025 or of 2026. */
export function mcpClient(era: Era, capabilities: ClientOptions['capabilities'] = {}): Client {
  return new Client(
    { name: 'test-client', version: '1' },
    { capabilities, versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: MODERN } } },
  );
}

/** Connected to `/mcp` of a daemon. */
export async function connectMcp(
  url: string,
  token: string,
  { era = 'modern', capabilities }: { era?: Era; capabilities?: ClientOptions['capabilities'] } = {},
): Promise<Client> {
  const client = mcpClient(era, capabilities);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit }));
  return client;
}

/** The text of a tool's result. */
export function textOf(result: unknown): string {
  const { content = [] } = result as { content?: { type: string; text?: string }[] };
  return content.map(({ text }) => text ?? '').join('\n');
}
