import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Bench } from './agent-bench.ts';

class PlainBench extends Bench {
  static async open(): Promise<PlainBench> {
    return new PlainBench(await mkdtemp('/var/tmp/tidemill proxy '), 'auto').lay();
  }
}

const PLAIN = { pass: [], writable: [], fallback: [], env: {} };

let bench: PlainBench;
beforeEach(async () => {
  bench = await PlainBench.open();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await bench.close();
});

it('a codex agent without its program is missed with words that help', async () => {
  const end = await bench.try({ default: { type: 'codex', ...PLAIN, program: './no-codex' } }).end;
  expect(end).toMatchObject({ kind: 'failed', failure: 'spawn' });
  expect(end).toHaveProperty('message', expect.stringMatching(/no-codex does not exist; install Codex with/));
});

it('codex gets the proxy and certificate variables of the daemon, and nothing else of it', async () => {
  const program = path.join(bench.host.root, 'codex');
  // Stands in for the vendor's program: what it would do with them is not the point.
  await writeFile(program, '#!/bin/sh\nenv > env.txt\nexit 1\n');
  await chmod(program, 0o755);
  vi.stubEnv('HTTPS_PROXY', 'http://proxy.example.org:3128');
  vi.stubEnv('SSL_CERT_FILE', '/etc/ssl/certs/own.pem');
  vi.stubEnv('DATABASE_URL', 'postgres://secret');
  expect(await bench.try({ default: { type: 'codex', ...PLAIN, program } }).end).toMatchObject({ kind: 'failed' });
  const seen = await bench.read('env.txt');
  expect(seen).toContain('HTTPS_PROXY=http://proxy.example.org:3128');
  expect(seen).toContain('SSL_CERT_FILE=/etc/ssl/certs/own.pem');
  expect(seen).not.toContain('postgres://secret');
});

it('codex may not run a login shell, which would reset PATH', async () => {
  const program = path.join(bench.host.root, 'codex');
  await writeFile(program, '#!/bin/sh\ncp "$CODEX_HOME/config.toml" config.toml\necho "$PATH" > path.txt\nexit 1\n');
  await chmod(program, 0o755);
  vi.stubEnv('PATH', `${path.join(bench.host.root, 'shims')}:${process.env.PATH}`);
  expect(await bench.try({ default: { type: 'codex', ...PLAIN, program } }).end).toMatchObject({ kind: 'failed' });
  expect(await bench.read('config.toml')).toMatch(/^allow_login_shell = false$/m);
  expect(await bench.read('path.txt')).toBe(`${process.env.PATH}\n`);
});
