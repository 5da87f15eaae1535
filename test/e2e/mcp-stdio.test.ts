import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { use } from '../support/mcp-bed.ts';
import { type Era, mcpClient } from '../support/mcp-client.ts';
import { TidemillHome } from '../support/tidemill-home.ts';
import { QUIET_CONFIG, TemporaryRepository } from './cli-repository.ts';

const LAUNCHER = inject('launcher');

let machine: TidemillHome;
let repository: TemporaryRepository;
const open: Client[] = [];

beforeAll(() => {
  machine = new TidemillHome();
  repository = new TemporaryRepository({
    '.tidemill/config.yaml': QUIET_CONFIG,
    'logs/build.log': 'all good\nERROR: no such file\nall good\n',
    '.env': 'SECRET=1\n',
  });
});
afterEach(async () => {
  for (const client of open.splice(0)) await client.close();
});
afterAll(async () => {
  repository.remove();
  await machine.close();
});

async function connect(client: Client, cwd: string, ...args: string[]): Promise<Client> {
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [LAUNCHER, 'mcp', ...args],
      cwd,
      env: machine.env as Record<string, string>,
      stderr: 'inherit',
    }),
  );
  open.push(client);
  return client;
}

describe.each<Era>(['modern', 'legacy'])('tidemill mcp with a %s client', { timeout: 120_000 }, (era) => {
  test('finds the project of its folder, without a daemon, and searches its logs', async () => {
    const client = await connect(mcpClient(era), join(repository.root, 'logs'));
    expect((await use(client, 'tasks', { op: 'create', title: `From ${era}` })).text).toMatch(/Task #\d+ is created/);
    expect((await use(client, 'status')).text).toContain('not at work');
    const found = await use(client, 'search_logs', { path: 'logs/build.log', words: 'error' });
    expect(found.text).toContain('2: ERROR: no such file');
    expect(await use(client, 'search_logs', { path: '.env' })).toMatchObject({ isError: true });
    expect(await use(client, 'search_logs', { path: '../../etc/passwd' })).toMatchObject({ isError: true });
  });

  test('serves another project by projectRoot, and only what its role allows', async () => {
    const client = await connect(mcpClient(era), machine.folder, '--role', 'viewer');
    const { text } = await use(client, 'tasks', { op: 'list', projectRoot: repository.root });
    expect(text).toContain('From ');
    const { tools } = await client.listTools();
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
  });
});
