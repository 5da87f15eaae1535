import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InboxItem, TaskSummary } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CHAT, ChannelsBed } from '../support/channels/daemon-bed.ts';
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
  test('is answered on Telegram after the daemon was killed and restarted', { timeout: 3 * MINUTE }, async () => {
    bed.configure(`channels:\n${bed.phone()}`);
    const first = await machine.up(root);
    await machine.json<TaskSummary>(['task', 'add', 'Store it'], root);
    const { reply_markup } = await bed.telegram.message((text) => text.includes('Which database?'));
    await bed.delivered();
    first.child.kill('SIGKILL');
    await first.ended;
    await machine.up(root);
    bed.telegram.press(CHAT, reply_markup!.inline_keyboard.flat()[0]!.callback_data, 'ada');
    await machine.event('question.answered', (body) => body.answer.by.name === 'telegram:@ada');
    await bed.landed();
    await bed.telegram.message((text) => text === 'Answer saved: Postgres');
    expect(bed.telegram.calls.all.filter(({ body }) => body.text?.includes('Which database?'))).toHaveLength(1);
  });
});

describe('a channel that does not work', () => {
  test('report a wrong token with one alert, in the terminal and the inbox, and never the token itself', {
    timeout: 3 * MINUTE,
  }, async () => {
    bed.configure(`channels:\n${bed.phone('WRONG')}  screen: { type: terminal }\n`);
    const daemon = await machine.up(root);
    await machine.event('alert.raised', (body) => body.kind === 'channel');
    await bed.delivered();
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
});
