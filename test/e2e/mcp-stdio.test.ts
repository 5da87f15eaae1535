import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { AskedQuestion } from '@tidemill/contract';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { openFolderStore } from '../../packages/daemon/src/assembly/store-address.ts';
import { openDataFolder } from '../../packages/daemon/src/config/data-folder.ts';
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

  test('puts a question to the person of a client that shows forms', async () => {
    const { ref, project } = await ask(`Tabs or spaces, ${era}?`);
    const client = mcpClient(era, { elicitation: { form: {} } });
    client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { answer: 'Spaces' } }));
    await connect(client, repository.root);
    const told = await use(client, 'questions', { op: 'answer', question: ref, answer: 'Tabs' });
    expect(told.text).toBe(`${ref} is answered by the person.`);
    const { store } = await openFolderStore(openDataFolder(machine.env), machine.env);
    const found = await store.records({ noun: 'question', projectId: project });
    await store.close();
    expect(found.find((each) => each.ref === ref)?.answer).toMatchObject({ option: 'Spaces', by: { kind: 'person' } });
  });
});

/** As the engine of a daemon on the same data would. */
async function ask(text: string): Promise<{ ref: string; project: string }> {
  const { store } = await openFolderStore(openDataFolder(machine.env), machine.env);
  const [project] = await store.projects();
  const questions = [AskedQuestion.parse({ text, options: ['Tabs', 'Spaces'] })];
  const asker = { agent: 'a', source: 'engine', sourceId: text, stage: 'open' } as const;
  await store.execute({ type: 'question.ask', projectId: project!.id, taskId: null, questions, ...asker });
  const found = await store.records({ noun: 'question', projectId: project!.id });
  await store.close();
  return { ref: found.find((each) => each.text === text)!.ref, project: project!.id };
}
