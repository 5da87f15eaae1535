import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeliveryConfig } from '@tidemill/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DeliveryContext } from '../ports.ts';
import { createDeliverer } from './deliverer.ts';
import { openStepLog } from './delivery-log.ts';
import { hider } from './secrets.ts';

let folder: string;
let server: Server;
let url: string;
let answers: (number | 'silence')[] = [];
const asked: string[] = [];
let made = 0;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tidemill-deliverer-'));
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const answer = answers.shift() ?? 200;
    if (answer !== 'silence') response.writeHead(answer, { location: '/elsewhere' }).end('x');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const KEY = 'kippers-at-noon/8%';
const PEM = '-----BEGIN-----\nMIIEvQIBADANBgkqhkiG\nqL9w0BAQEFAASC\n-----END-----';

function setUp(environment: object) {
  const config = DeliveryConfig.parse({ environments: [{ name: 'staging', run: ['true'], ...environment }] });
  made += 1;
  const deliveryId = `delivery_${made}`;
  const log = join(folder, `${deliveryId}.log`);
  const deliverer = createDeliverer({
    config,
    host: { root: folder, dataDir: folder, homeId: 'test', sandbox: 'off' },
    logOf: () => log,
    env: { ...process.env, DEPLOY_KEY: KEY, PEM_KEY: PEM },
  });
  const context: DeliveryContext = {
    ...{ deliveryId, ref: `D${made}`, environment: 'staging', commit: 'c0ffee', previous: null },
    ...{ isRollback: false, attempt: 0, isResumed: false, down: new AbortController().signal, path: folder },
  };
  const run = (command: string, signal = new AbortController().signal) => deliverer.run(context, command, signal);
  const check = (signal = new AbortController().signal) => deliverer.check(context, signal);
  // Also for root: a folder is where the file should be.
  const unwritable = () => mkdirSync(log);
  return {
    deliverer,
    context,
    run,
    check,
    unwritable,
    log: () => readFileSync(log, 'utf8'),
    size: () => statSync(log).size,
  };
}

describe('a command of a delivery', () => {
  test('knows what is delivered, and only the variables that the settings name', async () => {
    const { run, log } = setUp({ pass: ['DEPLOY_KEY'], env: { STAGE: 'blue' } });
    const end = await run(
      'echo "$TIDEMILL_ENVIRONMENT $TIDEMILL_COMMIT $STAGE $CI $(printf %s "$DEPLOY_KEY" | wc -c | tr -d " ") [$PEM_KEY]"',
    );
    expect(end).toEqual({ result: 'passed', note: 'exit code 0' });
    expect(log()).toContain(`staging c0ffee blue 1 ${KEY.length} []`);
  });

  test('shows no secret in its log or note: as it is, encoded, cut by chunks, of several lines', async () => {
    const { run, log } = setUp({ pass: ['DEPLOY_KEY'], env: { PEM: '$PEM_KEY' } });
    await run(
      [
        'echo "key $DEPLOY_KEY end"; printf "$DEPLOY_KEY" | base64; echo "$PEM" >&2',
        'printf kippers; sleep 0.1; echo "-at-noon/8%"; echo kippers-at-noon%2F8%25',
        'exit 3',
      ].join('\n'),
    );
    const text = log();
    expect(text).toContain('key *** end');
    expect(text).not.toMatch(/kippers-at|MIIEvQ|qL9w0BAQEF/);
    expect(text).not.toContain(Buffer.from(KEY).toString('base64'));
    expect(text).toContain('[exit code 3]');
  });

  test('shows no secret of a line that is written in parts', async () => {
    const file = join(folder, 'parts.log');
    const log = await openStepLog(file, hider([KEY]));
    const before = 'x'.repeat(12_300);
    await log.write(Buffer.from(`${before}${KEY}${'y'.repeat(16_400 - before.length - KEY.length)}`));
    await log.close();
    const text = readFileSync(file, 'utf8');
    expect(text).toContain('x***y');
    expect(text).not.toMatch(/kip|noon/);
  });

  test('whose output cannot be saved ends as it ended, and says so', async () => {
    const { run, unwritable } = setUp({});
    unwritable();
    expect(await run('exit 0')).toEqual({
      result: 'passed',
      note: expect.stringMatching(/^exit code 0; some of its output could not be saved: E/),
    });
    expect(await run('yes | head -c 100000; exit 4')).toMatchObject({
      result: 'failed',
      note: expect.stringMatching(/^exit code 4; /),
    });
  });

  test('that lacks a variable does not begin', () => {
    const { deliverer } = setUp({ pass: ['NO_SUCH_KEY'], env: { A: '$NEITHER' } });
    expect(deliverer.obstacle('staging')).toBe('$NEITHER, $NO_SUCH_KEY are not set where the daemon was started');
    expect(setUp({ pass: ['DEPLOY_KEY'] }).deliverer.obstacle('staging')).toBeNull();
  });

  test('that hangs is killed with all that it started', async () => {
    const { run } = setUp({ timeout: '300ms' });
    const mark = `${47_000 + process.pid}`;
    const end = await run(`sleep ${mark} & trap "" TERM; sleep ${mark}`);
    expect(end).toEqual({ result: 'timed_out', note: 'it did not end within 0.3 s and was killed' });
    expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain(`sleep ${mark}`);
  });

  test('is stopped by the signal', async () => {
    const stop = new AbortController();
    const { run } = setUp({});
    const running = run('sleep 60', stop.signal);
    stop.abort();
    expect(await running).toEqual({ result: 'stopped', note: 'it was stopped' });
  });

  test('that prints without end has a log of at most about 5 MB, with its beginning and its end', async () => {
    const { run, log, size } = setUp({});
    const noisy = 'echo first; yes 0123456789012345678901234567890123456789 | head -c 9000000; echo last';
    for (let step = 0; step < 4; step += 1) await run(noisy);
    expect(size()).toBeLessThan(5_300_000);
    expect(log()).toMatch(/first\n[\s\S]*MB of output cut here[\s\S]*last\n/);
  });
});

describe('a health check', () => {
  test('is tried until it passes', async () => {
    answers = [500, 503, 200];
    const { check, log } = setUp({ health: { url: `${url}/health/{commit}`, tries: 5, interval: '10ms' } });
    expect(await check()).toEqual({ result: 'passed', note: 'passed at try 3 of 5' });
    expect(log()).toContain('try 2 of 5: it answered 503, and 200 was expected');
    expect(asked.at(-1)).toBe('/health/c0ffee');
  });

  test.each<[string, object, (number | 'silence')[], RegExp]>([
    ['another status', {}, [404, 404], /failed 2 times: it answered 404/],
    ['a redirect', {}, [302, 302], /it answered 302/],
    ['no answer', { timeout: '100ms' }, ['silence', 'silence'], /no answer within 0.1 s/],
  ])('fails with %s', async (_name, more, given, note) => {
    answers = [...given];
    const { check } = setUp({ health: { url, tries: 2, interval: '10ms', ...more } });
    expect(await check()).toMatchObject({ result: 'failed', note: expect.stringMatching(note) });
  });

  test('fails when nothing listens', async () => {
    const { check } = setUp({ health: { url: 'http://127.0.0.1:1/', tries: 1 } });
    expect(await check()).toMatchObject({ result: 'failed', note: expect.stringContaining('failed once') });
  });

  test('may be a command, and one that hangs fails its try', async () => {
    const passing = setUp({ health: { run: 'test "$TIDEMILL_COMMIT" = c0ffee' } });
    expect(await passing.check()).toMatchObject({ result: 'passed' });
    const hanging = setUp({ health: { run: 'sleep 60', tries: 1, timeout: '100ms' } });
    expect(await hanging.check()).toMatchObject({ result: 'failed', note: expect.stringContaining('was killed') });
  });
});

test.each([
  [{ run: [] }, 'needs either commands'],
  [{ run: ['x'], workflow: 'deploy.yml' }, 'needs either commands'],
  [{ run: ['x'], health: { tries: 2 } }, 'needs either a command'],
  [{ run: ['x'], health: { url: 'file:///etc/passwd' } }, 'is an address'],
  [{ run: ['x'], name: 'Prod Eins' }, 'lower-case letters'],
  [{ run: [''] }, 'a command is empty'],
])('delivery settings %j are refused', (environment, message) => {
  const result = DeliveryConfig.safeParse({ environments: [{ name: 'staging', ...environment }] });
  expect(result.error?.message).toContain(message);
});
