import { UNKNOWN_REQUEST_USD } from '@tidemill/contract';

/** Runs the trick in its task's body. It changes no file, so each task is one run. */
export const AGENT = `
import { setTimeout as sleep } from 'node:timers/promises';
import { spawn } from 'node:child_process';
let input = '';
for await (const chunk of process.stdin) input += chunk;
const { task } = JSON.parse(input);
const write = (text) => new Promise((resolve) => process.stdout.write(text, resolve));
const usage = (more) => write(JSON.stringify({ tidemill: 'usage', ...more }) + '\\n');
const done = () => write(JSON.stringify({ tidemill: 'result', outcome: 'pr_ready', summary: 'done' }) + '\\n');
const AsyncFunction = (async () => {}).constructor;
await new AsyncFunction('write', 'usage', 'done', 'sleep', 'spawn', task.body)(write, usage, done, sleep, spawn);
`;

/** A time zone where it is about noon now, so that no test runs over midnight. */
const hour = new Date().getUTCHours();
export const noon = `Etc/GMT${hour >= 12 ? `+${hour - 12}` : `-${12 - hour}`}`;
export const LIMIT = 10;

export const configOf = (dailyUsd: number, workers: number, more = '') => `target: main
pipeline: quick
workers: ${workers}
budget: { dailyUsd: ${dailyUsd}, monthlyUsd: ${dailyUsd * 10}, timeZone: ${noon} }
agents:
  default: { type: command, command: [${JSON.stringify(process.execPath)}, agent.mjs]${more} }
untested: true
`;

export const ONE = UNKNOWN_REQUEST_USD;
type Lie = [title: string, body: string, bookedUsd: number | null];
/** What an agent prints, and what is booked for it. */
export const LIES: Lie[] = [
  ['one line of 1e308', `await usage({ costUsd: 1e308 }); await done()`, ONE],
  ['two lines of 1e308', `await usage({ costUsd: 1e308 }); await usage({ costUsd: 1e308 }); await done()`, 2 * ONE],
  ['tokens of 1e308, twice', `for (const _ of '12') await usage({ inputTokens: 1e308 }); await done()`, 2 * ONE],
  ['a negative price', `await usage({ costUsd: -1000 }); await done()`, ONE],
  [
    'a negative price to take back what was told',
    `await usage({ costUsd: 2 }); await usage({ costUsd: -2 }); await done()`,
    2 + ONE,
  ],
  ['NaN', `await write('{"tidemill":"usage","costUsd":NaN}\\n'); await done()`, ONE],
  ['more than a number can hold', `await write('{"tidemill":"usage","costUsd":1e400}\\n'); await done()`, ONE],
  ['a price in words', `await usage({ costUsd: '3' }); await done()`, ONE],
  ['a price in a list', `await usage({ costUsd: [0] }); await done()`, ONE],
  ['digits of another script', `await write('{"tidemill":"usage","costUsd":٣}\\n'); await done()`, ONE],
  ['half a token', `await usage({ costUsd: 0, inputTokens: 1.5 }); await done()`, ONE],
  ['whole numbers of 300 digits', `await usage({ costUsd: 0, requests: 1e300 }); await done()`, ONE],
  ['less than no requests', `await usage({ costUsd: 0, requests: -1 }); await done()`, ONE],
  ['nothing at all', `await done()`, ONE],
  // It ended before it made a request.
  ['a crash without a word', `process.exit(1)`, null],
  ['no requests', `await usage({ requests: 0 }); await done()`, 0],
  [
    'a message inside a string',
    `await write(JSON.stringify(JSON.stringify({ tidemill: 'usage', costUsd: 0 })) + '\\n'); await done()`,
    ONE,
  ],
  [
    'another case',
    `await write('{"Tidemill":"usage","costUsd":0}\\n{"tidemill":"USAGE","costUsd":0}\\n'); await done()`,
    ONE,
  ],
  ['the word that it is free', `await usage({ free: true, isFree: true }); await done()`, ONE],
  ['usage among its errors', `process.stderr.write('{"tidemill":"usage","costUsd":0}\\n'); await done()`, ONE],
  ['a line of 2 MB', `await usage({ costUsd: 0, padding: 'x'.repeat(2_000_000) }); await done()`, ONE],
  ['the same line twice', `await usage({ costUsd: 0.25 }); await usage({ costUsd: 0.25 }); await done()`, 0.5],
  ['less than before', `await usage({ costUsd: 0.75 }); await usage({ costUsd: 0.25 }); await done()`, 1],
  ['usage after the result', `await done(); await usage({ costUsd: 0.25 })`, 0.25],
  ['a line without an end', `await done(); await write('{"tidemill":"usage","costUsd":0.25}')`, 0.25],
  [
    'a line in two pieces',
    `await write('{"tidemill":"us'); await sleep(50); await write('age","costUsd":0.25}\\n'); await done()`,
    0.25,
  ],
  ['five requests without a price', `await usage({ requests: 5 }); await done()`, 5 * ONE],
  // Tidemill accepts the price that an agent reports, because it has no other source.
  ['many tokens at no price', `await usage({ costUsd: 0, inputTokens: 1_000_000 }); await done()`, 0],
];

/** The time a busy machine may need to read a line: a request cannot be stopped before it is reported. */
export const SLACK = 3;
export const every = (price: string) => `for (;;) { await usage({ costUsd: ${price} }); await sleep(300) }`;
type Spender = [title: string, body: string, mostUsd: number];
/** Each spends without end, one dollar at a time; `mostUsd` is the most that may be booked at a limit of 10. */
export const SPENDERS: Spender[] = [
  ['ignores that it is to end', `process.on('SIGTERM', () => {}); ${every('1')}`, LIMIT + SLACK],
  [
    'spends more once it is to end',
    `process.on('SIGTERM', () => void usage({ costUsd: 100 })); ${every('1')}`,
    LIMIT + SLACK,
  ],
  [
    'has a child that goes on',
    `const env = { ...process.env, LINE: JSON.stringify({ tidemill: 'usage', costUsd: 1 }) };
      const loop = 'trap "" TERM; while :; do echo "$LINE"; sleep 0.3; done';
      spawn('sh', ['-c', loop], { stdio: 'inherit', detached: true, env }); await sleep(600_000)`,
    LIMIT + SLACK,
  ],
  ['tells nothing that can be read', `for (;;) { await usage({ costUsd: -1 }); await sleep(150) }`, LIMIT + SLACK],
  [
    'tells a burst of requests without a price',
    `await write('{"tidemill":"usage"}\\n'.repeat(172)); await sleep(600_000)`,
    LIMIT + ONE,
  ],
  ['tells a million requests at once', `await usage({ requests: 1_000_000 }); await sleep(600_000)`, LIMIT + ONE],
  ['tells a lot too late', `await usage({ costUsd: 50 }); await sleep(600_000)`, 50],
  // The content of the pipe is spent by then: 64 KB of lines, and as much in buffers.
  [
    'tells it in a million lines',
    `for (let n = 0; n < 1_000; n += 1) await write('{"tidemill":"usage","costUsd":0.001}\\n'.repeat(1_000));
      await sleep(600_000)`,
    LIMIT + 10,
  ],
];
