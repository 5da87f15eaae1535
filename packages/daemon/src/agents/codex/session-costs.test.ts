import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Usage } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Prices } from '../prices.ts';
import { SessionCosts } from './session-costs.ts';

/** A dollar a token. */
const prices: Prices = { isOwn: () => false, costUsd: (_, { input, output }) => input + output };

const line = (type: string, payload: object) => `${JSON.stringify({ type, payload })}\n`;
const TURN = line('turn_context', { model: 'm' });
const answer = (id: string, tokens: number) =>
  line('token_usage_record', { response_id: id, usage: { input_tokens: tokens, output_tokens: 0 } });

let home = '';
let booked: Usage[] = [];
const write = (name: string, text: string) => writeFileSync(join(home, 'sessions', name), text, { flag: 'a' });
const open = () => SessionCosts.open(home, prices, (usage) => booked.push(usage));
const costs = () => booked.map(({ costUsd }) => costUsd);

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'tidemill-codex-'));
  mkdirSync(join(home, 'sessions'));
  booked = [];
});
afterEach(() => rmSync(home, { recursive: true }));

describe("the costs in Codex's session files", () => {
  it('each answer is booked once, also when the session of a sub-agent repeats it', async () => {
    const session = await open();
    write('main.jsonl', TURN + answer('r1', 3));
    await session.catchUp();
    write('sub-agent.jsonl', TURN + answer('r1', 3) + answer('r2', 5));
    await session.catchUp();
    await session.catchUp();
    expect(costs()).toEqual([3, 5]);
  });

  it('what an earlier run of a resumed session cost is not booked again', async () => {
    write('main.jsonl', TURN + answer('r1', 3));
    const session = await open();
    expect(session.requests).toBe(0);
    write('main.jsonl', answer('r1', 3) + answer('r2', 5));
    await session.catchUp();
    expect(costs()).toEqual([5]);
    expect(session.requests).toBe(1);
  });

  it('a record that is written in two pieces is booked when it is whole', async () => {
    const session = await open();
    const record = answer('r1', 3);
    write('main.jsonl', TURN + record.slice(0, 30));
    await session.catchUp();
    expect(costs()).toEqual([]);
    write('main.jsonl', record.slice(30));
    await session.catchUp();
    expect(costs()).toEqual([3]);
  });

  it('the summary after a turn is booked only without records, because it repeats them', async () => {
    const session = await open();
    write('main.jsonl', TURN + answer('r1', 3));
    await session.catchUp();
    const tokens = { input_tokens: 3, cached_input_tokens: 0, cache_write_input_tokens: 0, output_tokens: 0 };
    session.bookTurn(tokens, false, 'm');
    expect(costs()).toEqual([3]);
    rmSync(join(home, 'sessions'), { recursive: true });
    const unrecorded = await open();
    unrecorded.bookTurn(tokens, false, 'm');
    expect(costs()).toEqual([3, 3]);
  });
});
