import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect } from 'vitest';
import { type HttpServer, startHttp } from '../../packages/daemon/src/http/server.ts';
import { serveHttp } from '../../packages/daemon/src/mcp/http.ts';
import { conformanceServer } from '../support/mcp-fixture.ts';

const TOKEN = 'conformance';
const PROGRAM = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/conformance/dist/index.js');

/** Serves MCP for the tests of a file, which run the suite of the protocol against it. */
export function onConformanceServer(): { pass(revision: string): Promise<void> } {
  let folder: string;
  let front: Server;
  let http: HttpServer;
  let url: string;

  /** The suite sends no token, so a front adds it. Everything else, also Host and Origin, passes unchanged. */
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tidemill-conformance-'));
    front = createServer((incoming, response) => {
      const { hostname, port } = new URL(http.url);
      const headers = { ...incoming.headers, authorization: `Bearer ${TOKEN}` };
      const passed = request({ hostname, port, path: incoming.url, method: incoming.method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      passed.on('error', () => response.destroy());
      response.on('close', () => passed.destroy());
      incoming.pipe(passed);
    });
    front.listen(0, '127.0.0.1');
    await once(front, 'listening');
    const { port } = front.address() as AddressInfo;
    const endpoint = serveHttp(conformanceServer, () => undefined);
    http = await startHttp({
      port: 0,
      bind: { names: [`127.0.0.1:${port}`, `localhost:${port}`], outer: null },
      token: TOKEN,
      callerOf: async () => null,
      services: () => {
        throw new Error('only MCP is served here');
      },
      mcp: (incoming, response, caller) => endpoint.answer(incoming, response, caller),
      onError: () => undefined,
      onChange: () => undefined,
    });
    url = `http://127.0.0.1:${port}/mcp`;
  });
  afterAll(async () => {
    await http.close();
    front.closeAllConnections();
    front.close();
    rmSync(folder, { recursive: true });
  });

  return {
    /** It ends with 0 when exactly the listed scenarios fail: a listed one that passes is an error too. */
    async pass(revision) {
      const expected = join(import.meta.dirname, `../support/mcp-expected-failures-${revision}.yaml`);
      const args = ['server', '--url', url, '--requirements', revision, '--expected-failures', expected, '-o', folder];
      const suite = spawn(process.execPath, [PROGRAM, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
      const [output, trouble] = await Promise.all([text(suite.stdout), text(suite.stderr), once(suite, 'close')]);
      expect(suite.exitCode, `${output}\n${trouble}`).toBe(0);
    },
  };
}
