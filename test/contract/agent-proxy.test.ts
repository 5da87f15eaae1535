import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { Bench } from './agent-bench.ts';

class PlainBench extends Bench {
  static async open(): Promise<PlainBench> {
    return new PlainBench(await mkdtemp('/var/tmp/tidemill proxy '), 'auto').lay();
  }
}

afterEach(() => vi.unstubAllEnvs());

it('codex gets the proxy and certificate variables of the daemon, and nothing else of it', async () => {
  const bench = await PlainBench.open();
  const program = path.join(bench.host.root, 'codex');
  // Stands in for the vendor's program: what it would do with them is not the point.
  await writeFile(program, '#!/bin/sh\nenv > env.txt\nexit 1\n');
  await chmod(program, 0o755);
  vi.stubEnv('HTTPS_PROXY', 'http://proxy.example.org:3128');
  vi.stubEnv('SSL_CERT_FILE', '/etc/ssl/certs/own.pem');
  vi.stubEnv('DATABASE_URL', 'postgres://secret');
  const plain = { program, pass: [], writable: [], fallback: [], env: {} };
  expect(await bench.try({ default: { type: 'codex', ...plain } }).end).toMatchObject({ kind: 'failed' });
  const seen = await bench.read('env.txt');
  expect(seen).toContain('HTTPS_PROXY=http://proxy.example.org:3128');
  expect(seen).toContain('SSL_CERT_FILE=/etc/ssl/certs/own.pem');
  expect(seen).not.toContain('postgres://secret');
  await bench.close();
});
