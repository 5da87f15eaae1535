import type { NamedToken } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { QUIET_CONFIG, TemporaryRepository } from './cli-repository.ts';

let machine: TidemillHome;
let repository: TemporaryRepository;
beforeEach(() => {
  machine = new TidemillHome();
  repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
});
afterEach(async () => {
  await machine.close();
  repository.remove();
});

type Added = NamedToken & { token: string; link: string | null };

describe('tidemill token', () => {
  test('creates, lists and revokes, without a daemon and with one', async () => {
    const { root } = repository;
    expect((await machine.run(['token'], root)).stdout).toContain('No tokens yet');
    const ada = await machine.json<Added>(['token', 'add', 'ada', '--role', 'operator'], root);
    expect(ada).toMatchObject({ name: 'ada', role: 'operator', link: null });
    const again = await machine.run(['token', 'add', 'ada', '--role', 'viewer'], root);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain('tidemill token revoke ada');

    const { url } = await machine.up(root);
    const bot = await machine.json<Added>(['token', 'add', 'bot', '--role', 'worker'], root);
    expect(bot.link).toBe(`${url}/?token=${bot.token}`);
    const whoami = (token: string) => fetch(`${url}/v1/whoami`, { headers: { authorization: `Bearer ${token}` } });
    expect(await (await whoami(ada.token)).json()).toEqual({ name: 'ada', role: 'operator', person: 'ada' });
    const list = await machine.json<NamedToken[]>(['token', 'list'], root);
    expect(list.map(({ name }) => name)).toEqual(['ada', 'bot']);
    expect((await machine.run(['token', 'revoke', 'ada'], root)).code).toBe(0);
    expect((await whoami(ada.token)).status).toBe(401);
    const shown = await machine.run(['token', 'list'], root);
    expect(shown.stdout).toMatch(/^bot\s+worker\s+created .*never used/);
  });

  test('says what is wrong with bad input', async () => {
    const { root } = repository;
    const noRole = await machine.run(['token', 'add', 'ada'], root);
    expect({ code: noRole.code, said: noRole.stderr.includes('--role') }).toEqual({ code: 2, said: true });
    const role = await machine.run(['token', 'add', 'ada', '--role', 'king'], root);
    expect({ code: role.code, said: role.stderr.includes('viewer') }).toEqual({ code: 2, said: true });
    const name = await machine.run(['token', 'add', '../ada', '--role', 'viewer'], root);
    expect({ code: name.code, said: name.stderr.includes('a letter, then') }).toEqual({ code: 2, said: true });
    expect((await machine.run(['token', 'revoke', 'nobody'], root)).code).toBe(2);
    const open = await machine.run(['up', '--host', '0.0.0.0'], root);
    expect({ code: open.code, said: open.stderr.includes('--insecure-http') }).toEqual({ code: 2, said: true });
  });
});
