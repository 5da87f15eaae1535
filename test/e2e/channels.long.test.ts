import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InboxItem } from '@tidemill/contract';
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
