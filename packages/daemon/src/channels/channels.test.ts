import { createHmac } from 'node:crypto';
import { ChannelConfig, type Question } from '@tidemill/contract';
import { afterEach, describe, expect, it } from 'vitest';
import { QUIET_CONFIG, TemporaryRepository } from '../../../../test/e2e/cli-repository.ts';
import { DeliveryBed } from '../../../../test/support/channels/bed.ts';
import { Inflow, LoopbackServer, sendJson } from '../../../../test/support/channels/loopback.ts';
import { MailStandIn } from '../../../../test/support/channels/mail.ts';
import { NtfyStandIn } from '../../../../test/support/channels/ntfy.ts';
import { SlackStandIn } from '../../../../test/support/channels/slack.ts';
import { TelegramStandIn } from '../../../../test/support/channels/telegram.ts';
import { loadSettings } from '../config/load.ts';

const CHAT = 4242;
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function standIn<T extends { listen(): Promise<void>; close(): Promise<void> }>(made: T): Promise<T> {
  await made.listen();
  closing.push(() => made.close());
  return made;
}

async function bedWith(env: NodeJS.ProcessEnv): Promise<DeliveryBed> {
  const bed = await DeliveryBed.open(env);
  closing.push(() => bed.close());
  return bed;
}

const OPTIONS = { text: 'Which port?', options: [{ label: '80', description: 'as usual' }, '8080'] };

async function expectAnswer(bed: DeliveryBed, question: Question, text: string, by: string): Promise<void> {
  await bed.event('question.answered');
  expect(await bed.question(question)).toMatchObject({
    status: 'answered',
    answer: { text, by: { name: by }, source: 'user' },
  });
}

describe('Telegram', () => {
  const config = ({ url }: TelegramStandIn): ChannelConfig =>
    ChannelConfig.parse({ type: 'telegram', tokenEnv: 'BOT_TOKEN', chat: CHAT, baseUrl: url });

  it('sends a question and receives the pressed button; the second press gets the name of the first person', async () => {
    const telegram = await standIn(new TelegramStandIn());
    const bed = await bedWith({ BOT_TOKEN: telegram.token });
    await bed.start({ phone: config(telegram) });
    const [question] = await bed.ask(OPTIONS);
    const { text, reply_markup } = await telegram.message();
    expect(text).toContain('Which port?');
    expect(text).toContain('- 80: as usual');
    const buttons = reply_markup!.inline_keyboard.flat();
    expect(buttons.map((button) => button.text)).toEqual(['80', '8080']);
    await bed.event('notification.tried');
    telegram.press(CHAT, buttons[1]!.callback_data, 'ada');
    await expectAnswer(bed, question!, '8080', 'telegram:@ada');
    await telegram.message((said) => said === 'Answer saved: 8080');
    telegram.press(CHAT, buttons[0]!.callback_data, 'bob');
    const second = await telegram.calls.first(
      ({ method, body }) => method === 'answerCallbackQuery' && body.show_alert === true,
    );
    expect(second.body.text).toBe('Already answered by telegram:@ada: "8080"');
  });

  it('takes a reply as text, even by a daemon that started after the message was sent', async () => {
    const telegram = await standIn(new TelegramStandIn());
    const bed = await bedWith({ BOT_TOKEN: telegram.token });
    await bed.start({ phone: config(telegram) });
    const [question] = await bed.ask({ text: 'Which port?' });
    await telegram.message();
    await bed.event('notification.tried');
    await bed.stop();
    await bed.start({ phone: config(telegram) });
    telegram.reply(CHAT, 100, 'the usual one', 'ada');
    await expectAnswer(bed, question!, 'the usual one', 'telegram:@ada');
    await telegram.message((said) => said === 'Answer saved: the usual one');
    expect(telegram.calls.all.filter(({ body }) => body.text?.includes('Which port?'))).toHaveLength(1);
  });

  it('accepts answers only from the configured chat', async () => {
    const telegram = await standIn(new TelegramStandIn());
    const bed = await bedWith({ BOT_TOKEN: telegram.token });
    await bed.start({ phone: config(telegram) });
    const [question] = await bed.ask(OPTIONS);
    const { reply_markup } = await telegram.message();
    const [button] = reply_markup!.inline_keyboard.flat();
    await bed.event('notification.tried');
    telegram.press(666, button!.callback_data, 'mallory');
    telegram.reply(666, 100, '8080', 'mallory');
    telegram.reply(CHAT, 100, 'mine', 'ada');
    await expectAnswer(bed, question!, 'mine', 'telegram:@ada');
  });

  it('two projects with one bot and two chats get their own answers', async () => {
    const telegram = await standIn(new TelegramStandIn());
    const bed = await bedWith({ BOT_TOKEN: telegram.token });
    await bed.project('project_2', 'other');
    await bed.start({ phone: config(telegram) });
    await bed.start({ phone: { ...config(telegram), chat: 77 } as ChannelConfig }, { projectId: 'project_2' });
    const [question] = await bed.askIn('project_2', { text: 'Theirs?' });
    await telegram.message();
    await bed.event('notification.tried');
    telegram.reply(77, 100, 'yes', 'eve');
    await expectAnswer(bed, question!, 'yes', 'telegram:@eve');
  });

  it('a wrong token is reported without its value, also on another channel', async () => {
    const telegram = await standIn(new TelegramStandIn());
    const bed = await bedWith({ BOT_TOKEN: '99:wrong-secret' });
    const shown = new Inflow<string>();
    bed.screens.add((text) => shown.put(text));
    await bed.start({ phone: config(telegram), screen: { type: 'terminal' } });
    await bed.ask(OPTIONS);
    const notice = await shown.first((text) => text.includes('does not deliver'));
    expect(notice).toContain('Telegram does not accept the token in BOT_TOKEN');
    await bed.event('notification.tried', 2);
    const all = JSON.stringify([await bed.notifications(), bed.notes, shown.all]);
    expect(all).not.toContain('wrong-secret');
  });

  it('a missing token is reported', async () => {
    const telegram = await standIn(new TelegramStandIn());
    const bed = await bedWith({});
    await bed.start({ phone: config(telegram) });
    await bed.ask(OPTIONS);
    await bed.event('notification.tried');
    expect((await bed.notifications())[0]!.error).toContain('BOT_TOKEN is not set');
  });

  it('receives the questions of an outage when it is up again', async () => {
    const telegram = new TelegramStandIn();
    await telegram.listen();
    const settings = config(telegram);
    await telegram.close();
    const bed = await bedWith({ BOT_TOKEN: telegram.token });
    await bed.start({ phone: settings });
    await bed.ask(OPTIONS);
    await bed.event('notification.tried');
    expect((await bed.notifications())[0]!.error).not.toBeNull();
    await standIn(telegram);
    expect((await telegram.message()).text).toContain('Which port?');
  });

  it('a text of 1 MB is cut to fit, and nothing in a text is markup', async () => {
    const telegram = await standIn(new TelegramStandIn());
    const bed = await bedWith({ BOT_TOKEN: telegram.token });
    await bed.start({ phone: config(telegram) });
    const text = '*bold* <script>alert(1)</script> [x](javascript:1)';
    await bed.must({
      type: 'alert.raise',
      projectId: 'project_1',
      taskId: null,
      kind: 'environment',
      severity: 'critical',
      text: `${text}${'x'.repeat(1_000_000)}`,
    });
    const alert = await telegram.message();
    expect(alert.text!.length).toBeLessThanOrEqual(4096);
    expect(alert.text).toContain(text);
    expect(alert).not.toHaveProperty('parse_mode');
    await bed.ask({ text: `${text}${'y'.repeat(19_000)}`, context: 'z'.repeat(20_000) });
    const asked = await telegram.message((said) => said.includes('yyy'));
    expect(asked.text!.length).toBeLessThanOrEqual(4096);
    expect(asked.text).toMatch(/cut; `tidemill inbox`[\s\S]*tidemill answer/);
  });
});

describe('Slack', () => {
  const config = ({ url }: SlackStandIn): ChannelConfig =>
    ChannelConfig.parse({ type: 'slack', tokenEnv: 'BOT', appTokenEnv: 'APP', channel: '#builds', baseUrl: url });

  it('sends a question and receives the pressed button through Socket Mode', async () => {
    const slack = await standIn(new SlackStandIn());
    const bed = await bedWith({ BOT: slack.token, APP: slack.appToken });
    await bed.start({ team: config(slack) });
    const [question] = await bed.ask(OPTIONS);
    const blocks = await slack.blocks();
    expect(blocks.map(({ type }) => type)).toEqual(['header', 'section', 'actions']);
    expect(blocks[1]!.text!.text).toContain('Which port?');
    await bed.event('notification.tried');
    await slack.press(blocks[2]!.elements![0]!);
    await expectAnswer(bed, question!, '80', 'slack:@ada');
    await slack.calls.first(({ body }) => body.text === 'Answer saved: 80' && body.thread_ts === '1700000000.000001');
    await slack.press(blocks[2]!.elements![1]!);
    await slack.calls.first(({ body }) => body.text === 'Already answered by slack:@ada: "80"');
  });

  it('takes a text answer from a form', async () => {
    const slack = await standIn(new SlackStandIn());
    const bed = await bedWith({ BOT: slack.token, APP: slack.appToken });
    await bed.start({ team: config(slack) });
    const [question] = await bed.ask({ text: 'Which port?' });
    const words = (await slack.blocks())[2]!.elements![0]!;
    await bed.event('notification.tried');
    await slack.press(words);
    const opened = await slack.calls.first(({ method }) => method === 'views.open');
    const view = JSON.parse(opened.body.view!) as { private_metadata: string; blocks: { block_id: string }[] };
    const input = view.blocks[0]!.block_id;
    const state = { values: { [input]: { [input]: { value: 'any free one' } } } };
    await slack.interact({ type: 'view_submission', view: { private_metadata: view.private_metadata, state } });
    await expectAnswer(bed, question!, 'any free one', 'slack:@ada');
  });

  it('ignores mentions and markup in a text', async () => {
    const slack = await standIn(new SlackStandIn());
    const bed = await bedWith({ BOT: slack.token, APP: slack.appToken });
    await bed.start({ team: config(slack) });
    await bed.ask({ text: `<!channel> *now* ${'x'.repeat(15_000)}`, options: ['<!here>'] });
    const blocks = await slack.blocks();
    const texts = blocks.flatMap(({ text, elements = [] }) => [text, ...elements.map((each) => each.text)]);
    for (const text of texts) if (text) expect(text).toMatchObject({ type: 'plain_text' });
    expect(blocks[1]!.text!.text.length).toBeLessThanOrEqual(3000);
    expect(slack.calls.all[0]!.body.text).not.toContain('<');
  });

  it('reports a wrong token as such', async () => {
    const slack = await standIn(new SlackStandIn());
    const bed = await bedWith({ BOT: 'xoxb-wrong-secret', APP: 'xapp-wrong-secret' });
    await bed.start({ team: config(slack) });
    await bed.ask(OPTIONS);
    await bed.event('notification.tried');
    const [notification] = await bed.notifications();
    expect(notification!.error).toContain('Slack does not accept the token in BOT or APP: invalid_auth');
    await bed.event('alert.raised');
    const alerts = await bed.store.records({ noun: 'alert' });
    expect(JSON.stringify([alerts, notification, bed.notes])).not.toContain('wrong-secret');
  });
});

describe('webhook', () => {
  const SECRET = 'shared-secret-42';
  interface Hit {
    headers: Record<string, string | string[] | undefined>;
    body: string;
  }
  class Receiver extends LoopbackServer {
    readonly hits = new Inflow<Hit>();
    status = 200;
    constructor() {
      super((request, body, response) => {
        this.hits.put({ headers: request.headers, body });
        sendJson(response, { said: body.slice(0, 10) }, this.status);
      });
    }
  }
  const config = ({ url }: Receiver): ChannelConfig =>
    ChannelConfig.parse({ type: 'webhook', url: `${url}/in`, secretEnv: 'HOOK' });

  it('is signed over time and body, and has the address for an answer', async () => {
    const receiver = await standIn(new Receiver());
    const bed = await bedWith({ HOOK: SECRET });
    await bed.start({ hook: config(receiver) });
    const [question] = await bed.ask(OPTIONS);
    const { headers, body } = await receiver.hits.first();
    const signature = createHmac('sha256', SECRET).update(`${headers['x-tidemill-timestamp']}.${body}`).digest('hex');
    expect(headers['x-tidemill-signature']).toBe(`v1=${signature}`);
    const { parts } = JSON.parse(body) as {
      parts: { question: { answerUrl: string; options: { label: string }[] } }[];
    };
    expect(parts[0]!.question.options.map(({ label }) => label)).toEqual(['80', '8080']);
    expect(new URL(parts[0]!.question.answerUrl).pathname).toBe(
      `/v1/projects/project_1/questions/${question!.id}/answer`,
    );
  });

  it('a delivery keeps its id across attempts', async () => {
    const receiver = await standIn(new Receiver());
    receiver.status = 503;
    const bed = await bedWith({ HOOK: SECRET });
    await bed.start({ hook: config(receiver) });
    await bed.ask(OPTIONS);
    await bed.event('notification.tried');
    receiver.status = 200;
    await bed.event('notification.tried', 2);
    const names = receiver.hits.all.map(({ headers }) => headers['x-tidemill-delivery']);
    expect(names).toHaveLength(2);
    expect(new Set(names).size).toBe(1);
  });

  it('a receiver that does not know the secret, or has moved, is reported as such', async () => {
    const receiver = await standIn(new Receiver());
    receiver.status = 403;
    const bed = await bedWith({ HOOK: SECRET });
    await bed.start({ hook: config(receiver) });
    await bed.ask(OPTIONS);
    await bed.event('notification.tried');
    expect((await bed.notifications())[0]!.error).toContain('knows the secret in HOOK');
    receiver.status = 302;
    await expect(
      (await bed.opener()(config(receiver))).send(
        { id: 'x', project: 'mill', severity: 'info', title: 't', at: 0, parts: [] },
        new AbortController().signal,
      ),
    ).rejects.toMatchObject({ code: 'channel_failed', kind: 'denied' });
  });
});

describe('e-mail', () => {
  const config = ({ port }: MailStandIn, more: object = {}): ChannelConfig =>
    ChannelConfig.parse({
      type: 'email',
      host: '127.0.0.1',
      port,
      userEnv: 'MAIL_USER',
      passwordEnv: 'MAIL_PASSWORD',
      from: 'Mill <mill@example.invalid>',
      to: 'ada@example.invalid',
      ...more,
    });

  it('sends a question as plain text, with the command that answers it', async () => {
    const mail = await standIn(new MailStandIn());
    const bed = await bedWith({ MAIL_USER: 'mill', MAIL_PASSWORD: mail.password });
    await bed.start({ mail: config(mail) });
    await bed.ask({ text: 'Which port?\r\nBcc: eve@example.invalid <script>alert(1)</script>', options: ['80'] });
    const { from, to, raw } = await mail.mails.first();
    expect([from, to]).toEqual(['mill@example.invalid', ['ada@example.invalid']]);
    expect(raw).toMatch(/^content-type: text\/plain/im);
    // Message ids are random hexadecimal digits, which may contain these letters.
    expect(raw.split('\r\n\r\n')[0]).not.toMatch(/^bcc|eve@|script/im);
    expect(raw).toContain('Which port?');
    expect(raw).toContain('tidemill answer');
  });

  it('a wrong password is reported', async () => {
    const mail = await standIn(new MailStandIn());
    const bed = await bedWith({ MAIL_USER: 'mill', MAIL_PASSWORD: 'wrong-secret' });
    await bed.start({ mail: config(mail) });
    await bed.ask(OPTIONS);
    await bed.event('notification.tried');
    const error = (await bed.notifications())[0]!.error;
    expect(error).toContain('does not accept user and password');
    expect(error).toContain('MAIL_USER and MAIL_PASSWORD');
    expect(error).not.toContain('wrong-secret');
  });
});

describe('ntfy', () => {
  const config = ({ url }: NtfyStandIn): ChannelConfig =>
    ChannelConfig.parse({
      type: 'ntfy',
      topic: 'mill',
      tokenEnv: 'NTFY',
      answerTopic: 'mill-answers',
      secretEnv: 'NTFY_SECRET',
      baseUrl: url,
    });

  it('sends a question and receives the pressed button; a foreign code is not an answer', async () => {
    const ntfy = await standIn(new NtfyStandIn());
    const bed = await bedWith({ NTFY: ntfy.token, NTFY_SECRET: 'answer-secret' });
    await bed.start({ phone: config(ntfy) });
    const [question] = await bed.ask(OPTIONS);
    const { actions, message } = await ntfy.published.first();
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(4096);
    expect(actions!.map(({ label }) => label)).toEqual(['80', '8080']);
    await bed.event('notification.tried');
    const [first, second] = actions!;
    await fetch(first!.url, { method: 'POST', body: `${first!.body.split(' ')[0]} 0 ${'0'.repeat(32)}` });
    await fetch(second!.url, { method: 'POST', body: second!.body });
    await expectAnswer(bed, question!, '8080', 'ntfy');
    await ntfy.published.first(({ message: said }) => said === 'Answer saved: 8080');
  });
});

describe('terminal and desktop', () => {
  it('the terminal shows a question without control sequences', async () => {
    const bed = await bedWith({});
    const shown = new Inflow<string>();
    bed.screens.add((text) => shown.put(text));
    await bed.start({ screen: { type: 'terminal' } });
    await bed.ask({ text: 'Which \u001b[31mport\u0007?' });
    const text = await shown.first();
    expect(text).toContain('Which port?');
    expect([...text].filter((character) => character < ' ' && character !== '\n')).toEqual([]);
  });

  it('a desktop without the program says what to install', async (context) => {
    context.skip(process.platform !== 'linux', 'the program has another name elsewhere');
    const bed = await bedWith({ PATH: '/nowhere' });
    const channel = await bed.opener()({ type: 'desktop' });
    const message = { id: 'x', project: 'mill', severity: 'info', title: 't', at: 0, parts: [] } as const;
    await expect(channel.send({ ...message, parts: [] }, new AbortController().signal)).rejects.toMatchObject({
      message: expect.stringContaining('notify-send'),
      hint: expect.stringContaining('libnotify-bin'),
    });
  });
});

describe('the settings of channels', () => {
  it('a severity with an unknown channel is refused, with a suggestion', async () => {
    const more = 'channels:\n  phone: { type: desktop }\nnotify:\n  channels: { critical: [fone] }\n';
    const repository = new TemporaryRepository({ '.tidemill/config.yaml': `${QUIET_CONFIG}${more}` });
    closing.push(async () => repository.remove());
    await expect(loadSettings(repository.root)).rejects.toMatchObject({
      message: '.tidemill/config.yaml:11: unknown channel "fone"; did you mean "phone"?',
    });
  });

  it.each([
    [
      'a token in the file',
      { type: 'telegram', tokenEnv: 'T', token: '12:secret', chat: 1 },
      /does not belong in this file/,
    ],
    [
      'a token where its name belongs',
      { type: 'telegram', tokenEnv: '12:secret', chat: 1 },
      /names an environment variable/,
    ],
    [
      'a password in an address',
      { type: 'webhook', url: 'https://me:secret@x.invalid', secretEnv: 'S' },
      /password does not belong/,
    ],
    ['an answer topic without a secret', { type: 'ntfy', topic: 't', answerTopic: 'u' }, /go together/],
    ['a chat by name', { type: 'telegram', tokenEnv: 'T', chat: '@ada' }, /number of a chat/],
  ])('%s is refused, and the error does not repeat it', (_, config, expected) => {
    const { error } = ChannelConfig.safeParse(config);
    expect(error?.message).toMatch(expected);
    expect(error?.message).not.toContain('secret@');
    expect(error?.message).not.toContain('12:secret');
  });
});
