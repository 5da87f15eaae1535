import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionAnswer } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TemporaryRepository } from '../../../../test/e2e/cli-repository.ts';
import type { TakenRequest } from '../ports.ts';
import { SESSIONS_FOLDER } from './folder.ts';
import { RequestFolder } from './request-folder.ts';
import { readRequest } from './request-text.ts';

let repository: TemporaryRepository;
let folder: string;
let requests: RequestFolder;

beforeEach(() => {
  repository = new TemporaryRepository();
  folder = join(repository.root, SESSIONS_FOLDER);
  mkdirSync(folder);
  requests = new RequestFolder(repository.root);
});
afterEach(() => repository.remove());

const put = (name: string, text: string) => writeFileSync(join(folder, name), text);
/** The first look only sees the file. */
async function taken(): Promise<TakenRequest[]> {
  expect(await requests.take()).toEqual([]);
  return requests.take();
}
const answered = (ok: boolean): SessionAnswer => ({
  agentId: 'agent-1',
  request: null,
  ok,
  text: 'x',
  hint: '',
  at: '2026-03-01T10:00:00.000Z',
});
const faultOf = async () => {
  const [one] = await taken();
  return one && 'fault' in one.asked ? one.asked.fault : null;
};

describe('a session’s request file', () => {
  test('is taken when it is complete, answered and removed; a folder without one is left alone', async () => {
    put('agent-1.request.json', '{"request":');
    expect(await requests.take()).toEqual([]);
    put('agent-1.request.json', '{"request":"start","task":3,"id":"a"}');
    const [one] = await taken();
    expect(one).toMatchObject({
      agentId: 'agent-1',
      isRepeated: false,
      asked: { request: { request: 'start', task: 3 } },
    });
    await one!.answer(answered(true));
    expect(readdirSync(folder)).toEqual(['agent-1.answer.json']);
    expect(JSON.parse(readFileSync(join(folder, 'agent-1.answer.json'), 'utf8'))).toEqual(answered(true));
    put('notes.json', '{}');
    expect(await taken()).toEqual([]);
  });

  test('that was taken before a crash is given again, with the same key', async () => {
    put('agent-1.request.json', '{"request":"create","title":"One"}');
    const [first] = await taken();
    const [again] = await new RequestFolder(repository.root).take();
    expect(again).toMatchObject({ isRepeated: true, key: first!.key });
    await again!.answer(answered(true));
    put('agent-1.request.json', '{"request":"create","title":"One"}');
    const [other] = await taken();
    expect(other!.key).not.toBe(first!.key);
  });

  test('that is refused is kept beside its answer, the newest only', async () => {
    for (const text of ['{', '[]']) {
      put('agent-1.request.json', text);
      await (await taken())[0]!.answer(answered(false));
    }
    expect(readdirSync(folder).sort()).toEqual(['agent-1.answer.json', 'agent-1.request.refused']);
    expect(readFileSync(join(folder, 'agent-1.request.refused'), 'utf8')).toBe('[]');
  });

  test('is refused as a link, a second name, a folder or a large file', async () => {
    const secret = join(repository.root, 'secret.json');
    writeFileSync(secret, '{"request":"stop"}');
    const path = join(folder, 'agent-1.request.json');
    const cases: [() => void, RegExp][] = [
      [() => symlinkSync(secret, path), /a link/],
      [() => linkSync(secret, path), /second name/],
      [() => mkdirSync(path), /not a regular file/],
      [() => writeFileSync(path, `"${'x'.repeat(300_000)}"`), /more than 256 kB/],
    ];
    for (const [make, expected] of cases) {
      make();
      expect(await requests.take()).toEqual([]);
      const [one] = await requests.take();
      expect(one!.asked).toEqual({ fault: expect.stringMatching(expected) });
      await one!.answer(answered(false));
    }
    expect(readFileSync(secret, 'utf8')).toBe('{"request":"stop"}');
  });

  test('that git tracks is not a person’s: an agent may have committed it', async () => {
    put('agent-1.request.json', '{"request":"stop"}');
    repository.git('add', '-f', SESSIONS_FOLDER);
    expect(await faultOf()).toMatch(/git tracks .claude-sessions\/agent-1.request.json/);
  });

  test('waits while git checks out, because the index lists files at the end', async () => {
    put('agent-1.request.json', '{"request":"stop"}');
    const lock = join(repository.root, '.git/index.lock');
    writeFileSync(lock, '');
    for (let look = 0; look < 3; look += 1) expect(await requests.take()).toEqual([]);
    renameSync(lock, `${lock}.gone`);
    expect(await requests.take()).toHaveLength(1);
  });

  test('in a folder that is a link is never seen', async () => {
    const elsewhere = join(repository.root, 'elsewhere');
    renameSync(folder, elsewhere);
    symlinkSync(elsewhere, folder);
    put('agent-1.request.json', '{"request":"stop"}');
    for (let look = 0; look < 3; look += 1) expect(await requests.take()).toEqual([]);
  });
});

describe('the text of a request', () => {
  test.each([
    ['json', '{"request":"pause"}', { request: 'pause' }],
    ['md', '/project-start #12\n', { request: 'start', task: 12 }],
    [
      'md',
      '/project-create Log out\n\nEnds the session.\n',
      { request: 'create', title: 'Log out', body: 'Ends the session.' },
    ],
    ['md', 'Mind the tests.\n', { request: 'message', text: 'Mind the tests.' }],
  ] as const)('in %s is read: %s', (format, text, expected) => {
    expect(readRequest(text, format)).toMatchObject({ request: expected });
  });

  test.each([
    ['json', 'null'],
    ['json', '{"request":"emergency"}'],
    ['json', '{"request":"start","task":-1}'],
    ['json', '{"request":"pause","worker":"all"}'],
    ['json', '{"request":"message","text":""}'],
    ['json', `{"request":"create","title":"${'x'.repeat(400)}"}`],
    ['md', '/project-start everything'],
    ['md', '/project-create'],
    ['md', '/exit'],
    ['md', ''],
  ] as const)('in %s is refused with a reason: %s', (format, text) => {
    expect(readRequest(text, format)).toEqual({ fault: expect.stringMatching(/\S/) });
  });
});
