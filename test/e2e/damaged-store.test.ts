import { createHash } from 'node:crypto';
import { cpSync, openSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TidemillHome } from '../support/tidemill-home.ts';
import { QUIET_CONFIG, TemporaryRepository } from './cli-repository.ts';

const machine = new TidemillHome();
const repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
const store = join(machine.data, 'store.db');
const sound = join(machine.folder, 'sound');
const PAGE = 4096;

beforeAll(async () => {
  for (let i = 0; i < 20; i += 1)
    await machine.run(['task', 'add', `task ${i}`, '--body', 'x'.repeat(3000)], repository.root);
  cpSync(machine.data, sound, { recursive: true });
}, 120_000);
afterAll(async () => {
  await machine.close();
  repository.remove();
});

const overwrite = (at: number, bytes: Buffer) => writeSync(openSync(store, 'r+'), bytes, 0, bytes.length, at);
/** A page of rows: commands that do not come by it notice nothing. */
function overwriteRows(): void {
  const bytes = readFileSync(store);
  const LEAF_OF_A_TABLE = 13;
  const pages = Array.from({ length: bytes.length / PAGE }, (_, at) => at).filter(
    (at) =>
      bytes[at * PAGE] === LEAF_OF_A_TABLE && bytes.subarray(at * PAGE, (at + 1) * PAGE).includes('x'.repeat(2000)),
  );
  overwrite(pages[Math.floor(pages.length / 2)]! * PAGE, Buffer.alloc(PAGE));
}
const DAMAGES: [name: string, damage: () => void, left: RegExp][] = [
  ['its header is overwritten', () => overwrite(0, Buffer.alloc(100, 7)), /nothing in it can be read/],
  [
    'pages in the middle are zeroed',
    () => {
      const pages = readFileSync(store).length / PAGE;
      for (let page = 40; page < pages; page += 1) overwrite(page * PAGE, Buffer.alloc(PAGE));
    },
    /can be read: .*projects/,
  ],
  ['one page of rows is zeroed', overwriteRows, /can be read: .*projects/],
  ['it is cut short', () => truncateSync(store, 20 * PAGE), /can be read|nothing in it can be read/],
  ['it is emptied', () => truncateSync(store, 0), /nothing in it can be read/],
  ['it is another file', () => writeFileSync(store, 'my notes\n'.repeat(1000)), /nothing in it can be read/],
];

describe('a store of which', () => {
  test.each(DAMAGES)('%s is read by `doctor`, which names the way on and changes nothing', async (_, damage, left) => {
    rmSync(machine.data, { recursive: true });
    cpSync(sound, machine.data, { recursive: true });
    cpSync(sound, join(machine.data, 'projects', 'one'), { recursive: true });
    damage();
    const hash = () =>
      readdirSync(machine.data)
        .filter((name) => name.startsWith('store.db'))
        .map(
          (name) =>
            `${name} ${createHash('sha256')
              .update(readFileSync(join(machine.data, name)))
              .digest('hex')}`,
        );
    const before = hash();
    const doctor = await machine.run(['doctor'], repository.root);
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toContain(`${store} is damaged: `);
    expect(doctor.stdout).toMatch(left);
    expect(doctor.stdout).toContain('.recover | sqlite3');
    expect(hash()).toEqual(before);
    const status = await machine.run(['up', '--until-idle'], repository.root);
    expect(status.code).toBe(1);
    expect(status.stderr).toContain('`tidemill doctor`');
  });
});
