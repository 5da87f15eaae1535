import type { Client } from '@modelcontextprotocol/client';
import type { AccessRole } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectMcp, type Era, textOf } from '../../../../test/support/mcp-client.ts';
import { ServedDaemon } from '../../../../test/support/served-daemon.ts';

let served: ServedDaemon;
const tokens = {} as Record<AccessRole, string>;
const ROLES: AccessRole[] = ['viewer', 'operator', 'admin', 'worker'];
const ERAS: Era[] = ['modern', 'legacy'];
const open: Client[] = [];

beforeAll(async () => {
  served = await ServedDaemon.start();
  for (const role of ROLES) tokens[role] = (await served.api.addToken({ name: `the-${role}`, role })).token;
});
afterAll(async () => {
  for (const client of open) await client.close();
  await served.close();
});

async function connect(token: string, options: Parameters<typeof connectMcp>[2] = {}): Promise<Client> {
  const client = await connectMcp(served.url, token, options);
  open.push(client);
  return client;
}

const call = async (client: Client, name: string, args: Record<string, unknown> = {}) => {
  const result = await client.callTool({ name, arguments: args });
  return { text: textOf(result), isError: result.isError === true };
};

describe.each(ERAS)('a %s client', (era) => {
  test('creates a task, finds it, comments on it and shows it', async () => {
    const client = await connect(tokens.operator, { era });
    const made = await call(client, 'tasks', {
      op: 'create',
      title: `Greet in ${era}`,
      text: 'Say hello',
      accept: ['It greets'],
    });
    const number = Number(/Task #(\d+) is created/.exec(made.text)?.[1]);
    expect(number).toBeGreaterThan(0);
    expect((await call(client, 'tasks', { op: 'list', words: era })).text).toContain(
      `#${number} open p2 Greet in ${era}`,
    );
    expect((await call(client, 'tasks', { op: 'ready' })).text).toContain(`#${number} `);
    expect((await call(client, 'tasks', { op: 'comment', task: number, text: 'Mind the umlauts' })).isError).toBe(
      false,
    );
    const shown = await call(client, 'tasks', { op: 'show', task: number });
    expect(shown.text).toContain('Say hello');
    expect(shown.text).toContain('It greets');
    const { task } = await served.api.task({ project: served.project, task: number });
    expect(task.context.at(-1)).toMatchObject({
      summary: 'Mind the umlauts',
      by: { kind: 'token', name: 'the-operator' },
    });
  });

  test('reads the status', async () => {
    const client = await connect(tokens.viewer, { era });
    expect((await call(client, 'status')).text).toMatch(/^Tidemill is not at work.*\d+ tasks/);
  });
});
