import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { GateConfig } from '@tidemill/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createGates } from '../gates/gates.ts';
import { type ChildHost, startChild } from './child.ts';
import { certificateFiles, networkSettings, readablePlaces } from './network-settings.ts';
import { sandboxStatus } from './sandbox.ts';

const status = await sandboxStatus();
if (!status.available) console.log(`network settings are tried without a sandbox, since ${status.why}`);
const hasOpenssl = isThere('openssl');

function isThere(program: string): boolean {
  try {
    execFileSync(program, ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false; // tests that need it are skipped
  }
}

let base: string;
let home: string;
let certificate: string;
let host: ChildHost;
let worktree: string;
let server: Server;
let registry: string;
const asked: string[] = [];
const before = { ...process.env };
const TOKEN = 'npm_token_of_the_person';

/** A registry with one package and an unknown certificate. */
async function openRegistry(): Promise<void> {
  const folder = path.join(base, 'registry');
  await mkdir(path.join(folder, 'package'), { recursive: true });
  await writeFile(path.join(folder, 'package', 'package.json'), '{"name":"tiny","version":"1.0.0"}');
  execFileSync('tar', ['czf', 'tiny.tgz', 'package'], { cwd: folder });
  const tarball = await readFile(path.join(folder, 'tiny.tgz'));
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const ssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  ssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=Company');
  ssl('req', '-newkey', 'rsa:2048', '-nodes', '-keyout', 'key.pem', '-out', 'request.pem', '-subj', '/CN=localhost');
  await writeFile(path.join(folder, 'names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
  const sign = ['x509', '-req', '-in', 'request.pem', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial'];
  ssl(...sign, '-out', 'cert.pem', '-extfile', 'names');
  // A typical company setup: neither in the system's certificates nor in the home folder.
  certificate = path.join(base, 'company', 'ca.pem');
  await mkdir(path.dirname(certificate));
  await writeFile(certificate, await readFile(path.join(folder, 'ca.pem')));
  const [key, cert] = await Promise.all(['key.pem', 'cert.pem'].map((name) => readFile(path.join(folder, name))));
  server = createServer({ key, cert }, (request, response) => {
    asked.push(`${request.url} ${request.headers.authorization ?? ''}`.trim());
    if (request.url?.endsWith('.tgz')) return void response.end(tarball);
    const dist = { tarball: `${registry}tiny/-/tiny-1.0.0.tgz`, integrity };
    const versions = { '1.0.0': { name: 'tiny', version: '1.0.0', dist } };
    response.end(JSON.stringify({ name: 'tiny', 'dist-tags': { latest: '1.0.0' }, versions }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  registry = `https://localhost:${(server.address() as AddressInfo).port}/`;
  const locked = { version: '1.0.0', resolved: `${registry}tiny/-/tiny-1.0.0.tgz`, integrity };
  const root = { name: 'mine', version: '1.0.0', dependencies: { tiny: '1.0.0' } };
  await writeFile(path.join(worktree, 'package.json'), JSON.stringify(root));
  const lock = { ...root, lockfileVersion: 3, requires: true, packages: { '': root, 'node_modules/tiny': locked } };
  await writeFile(path.join(worktree, 'package-lock.json'), JSON.stringify(lock));
}

beforeAll(async () => {
  base = await mkdtemp('/var/tmp/tidemill-network-');
  home = path.join(base, 'home');
  const dataDir = path.join(base, 'data');
  host = { root: path.join(base, 'repository'), dataDir, homeId: dataDir, sandbox: 'auto' };
  worktree = path.join(dataDir, 'worktrees', '1');
  for (const folder of [home, host.root, worktree]) await mkdir(folder, { recursive: true });
  if (!hasOpenssl) return;
  await openRegistry();
  const account = `//localhost:${new URL(registry).port}/:_authToken=${TOKEN}`;
  await writeFile(path.join(home, '.npmrc'), `registry=${registry}\n${account}\n`);
  await mkdir(path.join(home, '.npm')); // exists for every npm user
  await writeFile(path.join(home, '.netrc'), 'machine localhost password KEY\n');
  for (const name of Object.keys(process.env)) if (/^npm_config_|proxy$/i.test(name)) delete process.env[name];
  Object.assign(process.env, { HOME: home, NODE_EXTRA_CA_CERTS: certificate, no_proxy: 'localhost' });
  Object.assign(process.env, { CARGO_REGISTRY_TOKEN: 'publishes', TEST_DATABASE: 'given by name', OTHER: 'not given' });
});
afterAll(async () => {
  for (const name of Object.keys(process.env)) if (before[name] === undefined) delete process.env[name];
  Object.assign(process.env, before);
  server?.close();
  await rm(base, { recursive: true, force: true });
});

async function gate(run: string, more: object = {}) {
  const config = [GateConfig.parse({ name: 'one', run, ...more })];
  const logDir = path.join(base, 'data', 'logs');
  const made = createGates({ config, host, logDir });
  const { signal } = new AbortController();
  const reports = await made.run({ path: worktree, tree: 'tree', files: ['package.json'], signal });
  const { receipt } = reports.at(-1)!;
  return { status: receipt.status, text: await readFile(path.join(logDir, `${receipt.logHash}.log`), 'utf8') };
}

describe('behind the certificate of a company', () => {
  beforeEach(({ skip }) => skip(!hasOpenssl, 'openssl is not installed'));
  it('a gate with network installs from its registry', async () => {
    const { status, text } = await gate('npm ci --no-audit --no-fund && cat node_modules/tiny/package.json', {
      network: true,
    });
    expect(status, text).toBe('pass');
    expect(asked).toContain(`/tiny/-/tiny-1.0.0.tgz Bearer ${TOKEN}`);
  });

  it('a gate without network gets none of these settings', async () => {
    const { text } = await gate('env; cat ~/.npmrc; cat "$NODE_EXTRA_CA_CERTS"; true');
    expect(text).not.toMatch(/NODE_EXTRA_CA_CERTS=|no_proxy=/);
    if (status.available) expect(text).not.toContain(TOKEN);
  });

  it('an agent gets none of these settings, with or without network', async () => {
    let text = '';
    const { end } = startChild({
      host,
      runId: 'run_agent',
      cwd: worktree,
      network: true,
      timeoutMs: 20_000,
      command: ['sh', '-c', `env; cat ~/.npmrc; cat '${certificate}'; true`],
      onOutput: (chunk) => {
        text += chunk.toString();
      },
    });
    expect(await end).toMatchObject({ exitCode: 0 });
    expect(text).not.toMatch(/NODE_EXTRA_CA_CERTS=|no_proxy=/);
    if (!status.available) return;
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain('BEGIN CERTIFICATE');
  });

  it('publishing tokens and other passwords are not included', async () => {
    const { text } = await gate('env; cat ~/.netrc; true', { network: true });
    expect(text).toContain(`NODE_EXTRA_CA_CERTS=${certificate}`);
    expect(text).not.toContain('publishes');
    if (status.available) expect(text).not.toContain('KEY');
  });
});

it('a gate gets the variables that it names and those that are set for it', async () => {
  process.env.TEST_DATABASE = 'given by name';
  process.env.OTHER = 'not given';
  const { text } = await gate('env', { pass: ['TEST_DATABASE', 'NOT_SET'], env: { LEVEL: '3', CI: 'yes' } });
  expect(text).toMatch(/^TEST_DATABASE=given by name$/m);
  expect(text).toMatch(/^LEVEL=3$/m);
  expect(text).toMatch(/^CI=yes$/m);
  expect(text).not.toMatch(/^(OTHER|NOT_SET)=/m);
});

it('the network settings include the paths that they point to', async () => {
  await mkdir(path.join(home, '.config', 'pip'), { recursive: true });
  await writeFile(path.join(home, '.config', 'pip', 'pip.conf'), '[global]\ncert = ~/certs/company.pem\n');
  const { env, readable } = await networkSettings(
    { PIP_INDEX_URL: 'https://x', npm_config_local_prefix: '/x', npm_config_cafile: '/c/ca.pem', HTTPS_PROXY: 'p' },
    home,
  );
  expect(Object.keys(env).sort()).toEqual(['HTTPS_PROXY', 'PIP_INDEX_URL', 'npm_config_cafile']);
  expect(readable).toEqual(expect.arrayContaining(['/c/ca.pem', path.join(home, 'certs', 'company.pem')]));
  expect(certificateFiles({ SSL_CERT_DIR: '/a:/b', CLIENT_CERT_KEY: '/key', SSL_CERT_FILE: 'relative' })).toEqual([
    '/a',
    '/b',
  ]);
  expect(readablePlaces(['../shared', '~/docs', '/data'], '/work/mine')).toEqual([
    '/work/shared',
    path.join(process.env.HOME ?? '', 'docs'),
    '/data',
  ]);
});
