import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChannelView, InboxItem, TaskSummary } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ChannelsBed } from '../support/channels/daemon-bed.ts';
import type { TidemillHome } from '../support/tidemill-home.ts';

const MINUTE = 60_000;
let bed: ChannelsBed;
let machine: TidemillHome;
let root: string;
beforeEach(async () => {
  bed = new ChannelsBed();
  await bed.open();
  ({ machine, root } = bed);
});
afterEach(() => bed.close());

describe('a question that waits for a person', () => {
  test('is sent by a webhook that is added while the daemon runs, is in the inbox, and the task continues after an answer by the API', {
    timeout: 3 * MINUTE,
  }, async () => {
    bed.configure();
    const daemon = await machine.up(root);
    await machine.json<TaskSummary>(['task', 'add', 'Store it'], root);
    await machine.event('question.asked');
    bed.configure(`channels:\n${bed.webhook()}`);
    const { parts } = await bed.hits.first();
    await bed.delivered();
    const inbox = await machine.json<InboxItem[]>(['inbox'], root);
    expect(inbox).toMatchObject([{ kind: 'question', isBlocking: true, ref: 'Q1.1', title: 'Which database?' }]);
    expect((await machine.run(['inbox'], root)).stdout).toMatch(/^Q1\.1 +#1 Which database\?/);
    const { token } = JSON.parse(readFileSync(join(machine.data, 'daemon.json'), 'utf8')) as { token: string };
    const url = parts[0]!.question!.answerUrl;
    expect(url.startsWith(daemon.url)).toBe(true);
    const body = JSON.stringify({ text: 'Postgres', by: 'webhook:ci' });
    const answer = (authorization: string) =>
      fetch(url, { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body });
    expect((await answer('Bearer wrong')).status).toBe(401);
    expect((await answer(`Bearer ${token}`)).status).toBe(200);
    expect((await answer(`Bearer ${token}`)).status).toBe(409);
    await bed.landed();
    expect((await machine.json<InboxItem[]>(['inbox'], root)).filter(({ isBlocking }) => isBlocking)).toEqual([]);
    expect(await machine.json<ChannelView[]>(['channels'], root)).toMatchObject([
      {
        name: 'hook',
        type: 'webhook',
        answers: true,
        lastDeliveredAt: expect.any(Number),
        lastError: null,
      },
    ]);
  });
});

describe('channels', () => {
  test('send a test message, and refuse an unknown name and settings that contain a secret', {
    timeout: 2 * MINUTE,
  }, async () => {
    bed.configure(`channels:\n${bed.webhook()}`);
    expect(await machine.json(['channels', 'test', 'hook'], root)).toMatchObject({ sent: true });
    expect(bed.hits.all).toHaveLength(1);
    const unknown = await machine.run(['channels', 'test', 'hok'], root);
    expect(unknown.stderr).toContain('Configured: hook.');
    const secret = '  phone: { type: telegram, tokenEnv: BOT_TOKEN, token: "12:secret", chat: 1 }\n';
    bed.configure(`channels:\n${secret}`);
    const refused = await machine.run(['channels'], root);
    expect(refused.stderr).toContain('a secret does not belong in this file');
    expect(refused.stderr).not.toContain('12:secret');
  });
});
