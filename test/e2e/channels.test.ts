import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChannelView, InboxItem, TaskSummary } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Inflow, LoopbackServer, sendJson } from '../support/channels/loopback.ts';
import { TelegramStandIn } from '../support/channels/telegram.ts';
import { TidemillHome } from '../support/tidemill-home.ts';
import { TemporaryRepository } from './cli-repository.ts';

const MINUTE = 60_000;
const CHAT = 4242;

/** An agent that asks before it builds. */
const AGENT = `import { readFileSync, writeFileSync } from 'node:fs';
const brief = JSON.parse(readFileSync(0, 'utf8'));
const print = (message) => console.log(JSON.stringify(message));
if (brief.prompt.includes('Answer: Postgres')) {
  writeFileSync('work.txt', 'Postgres');
  print({ tidemill: 'result', outcome: 'pr_ready', summary: 'built' });
} else {
  const question = { text: 'Which database?', options: ['Postgres', 'SQLite'] };
  print({ tidemill: 'result', outcome: 'needs_info', summary: 'cannot choose', open_questions: [question] });
}
`;
const config = (more: string) => `target: main
pipeline: quick
agents:
  default: { type: command, command: [node, agent.mjs] }
gates:
  - { name: test, run: "true" }
${more}`;

let machine: TidemillHome;
let repository: TemporaryRepository;
let root: string;
const hits = new Inflow<{ parts: { question: { answerUrl: string } | null }[] }>();
let receiver: LoopbackServer;
let telegram: TelegramStandIn;

beforeEach(async () => {
  hits.all.length = 0;
  receiver = new LoopbackServer((_, body, response) => {
    hits.put(JSON.parse(body));
    sendJson(response, {});
  });
  telegram = new TelegramStandIn();
  await Promise.all([receiver.listen(), telegram.listen()]);
  machine = new TidemillHome({ HOOK_SECRET: 'shared-secret', BOT_TOKEN: telegram.token, WRONG: '12:wrong-secret' });
  repository = new TemporaryRepository({ 'agent.mjs': AGENT });
  root = repository.root;
});
afterEach(async () => {
  await machine.close();
  repository.remove();
  await Promise.all([receiver.close(), telegram.close()]);
});

const landed = () => machine.event('merge.landed');
const delivered = () => machine.event('notification.tried', (body) => body.error === null);
const webhook = () => `  hook: { type: webhook, url: "${receiver.url}", secretEnv: HOOK_SECRET }\n`;
const phone = (tokenEnv = 'BOT_TOKEN') =>
  `  phone: { type: telegram, tokenEnv: ${tokenEnv}, chat: ${CHAT}, baseUrl: "${telegram.url}" }\n`;

describe('a question that waits for a person', () => {
  test('is sent by webhook, is in the inbox, and the task continues after an answer by the API', {
    timeout: 3 * MINUTE,
  }, async () => {
    repository.write({ '.tidemill/config.yaml': config(`channels:\n${webhook()}`) });
    const daemon = await machine.up(root);
    await machine.json<TaskSummary>(['task', 'add', 'Store it'], root);
    const { parts } = await hits.first();
    await delivered();
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
    await landed();
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

  test('is answered on Telegram after the daemon was killed and restarted', { timeout: 3 * MINUTE }, async () => {
    repository.write({ '.tidemill/config.yaml': config(`channels:\n${phone()}`) });
    const first = await machine.up(root);
    await machine.json<TaskSummary>(['task', 'add', 'Store it'], root);
    const { reply_markup } = await telegram.message((text) => text.includes('Which database?'));
    await delivered();
    first.child.kill('SIGKILL');
    await first.ended;
    await machine.up(root);
    telegram.press(CHAT, reply_markup!.inline_keyboard.flat()[0]!.callback_data, 'ada');
    await machine.event('question.answered', (body) => body.answer.by.name === 'telegram:@ada');
    await landed();
    await telegram.message((text) => text === 'Answer saved: Postgres');
    expect(telegram.calls.all.filter(({ body }) => body.text?.includes('Which database?'))).toHaveLength(1);
  });
});

describe('channels', () => {
  test('a wrong token: one alert, in the terminal and the inbox, and never the token itself', {
    timeout: 3 * MINUTE,
  }, async () => {
    repository.write({ '.tidemill/config.yaml': config(`channels:\n${phone('WRONG')}  screen: { type: terminal }\n`) });
    const daemon = await machine.up(root);
    await machine.event('alert.raised', (body) => body.kind === 'channel');
    await delivered();
    const [alert] = await machine.json<InboxItem[]>(['inbox'], root);
    expect(alert).toMatchObject({
      kind: 'alert',
      severity: 'error',
      command: expect.stringMatching(/^tidemill inbox ack a/),
    });
    expect(daemon.stderr()).toContain('Telegram does not accept the token in WRONG');
    const tried = await machine.run(['channels', 'test', 'phone'], root);
    expect(tried).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Telegram does not accept the token in WRONG'),
    });
    expect(await machine.json(['inbox', 'ack', alert!.ref], root)).toEqual({ acknowledged: 1 });
    expect(await machine.json(['inbox', 'ack', '--all'], root)).toEqual({ acknowledged: 0 });
    expect((await machine.run(['inbox', 'ack', 'a00000'], root)).stderr).toContain('there is no open alert');
    const log = readFileSync(join(machine.data, 'daemon.log'), 'utf8');
    expect(log + daemon.stderr() + tried.stderr + JSON.stringify(alert)).not.toContain('wrong-secret');
  });

  test('a test message, an unknown name, and settings that contain a secret', {
    timeout: 2 * MINUTE,
  }, async () => {
    repository.write({ '.tidemill/config.yaml': config(`channels:\n${webhook()}`) });
    expect(await machine.json(['channels', 'test', 'hook'], root)).toMatchObject({ sent: true });
    expect(hits.all).toHaveLength(1);
    const unknown = await machine.run(['channels', 'test', 'hok'], root);
    expect(unknown.stderr).toContain('Configured: hook.');
    const secret = '  phone: { type: telegram, tokenEnv: BOT_TOKEN, token: "12:secret", chat: 1 }\n';
    repository.write({ '.tidemill/config.yaml': config(`channels:\n${secret}`) });
    const refused = await machine.run(['channels'], root);
    expect(refused.stderr).toContain('a secret does not belong in this file');
    expect(refused.stderr).not.toContain('12:secret');
  });

  test('a channel that is added while the daemon runs is used at once', { timeout: 2 * MINUTE }, async () => {
    repository.write({ '.tidemill/config.yaml': config('') });
    await machine.up(root);
    await machine.json<TaskSummary>(['task', 'add', 'Store it'], root);
    await machine.event('question.asked');
    repository.write({ '.tidemill/config.yaml': config(`channels:\n${webhook()}`) });
    expect((await hits.first()).parts[0]!.question).not.toBeNull();
  });
});
