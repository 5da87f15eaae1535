import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { call, refusals, say } from '../support/model/messages.ts';
import { type ClaudeBench, DONE, done, login } from './claude-bench.ts';
import { onClaudeBench } from './claude-suite.ts';

let bench: ClaudeBench;

onClaudeBench((opened) => {
  bench = opened;
});

describe('the vendor’s trouble with Claude Code', () => {
  it.each([
    ['auth', refusals.auth, 'Invalid API key'],
    ['credit', refusals.credit, 'Credit balance'],
    ['credit', refusals.lowBalance, 'Credit balance'],
    ['rate_limit', refusals.rateLimit(3600), '429'],
    ['overloaded', refusals.overloaded, '529'],
    ['overloaded', refusals.broken, '500'],
    ['context_too_long', refusals.tooLong, 'too long'],
    ['refused', say('', { stopReason: 'refusal' }), 'safeguards'],
    ['network', say('a long text that breaks off', { cutAfter: 3 }), ''],
  ] as const)('is %s', async (failure, turn, says) => {
    const server = await bench.model(turn);
    const trial = bench.start(server.url);
    expect(await trial.end).toMatchObject({ kind: 'failed', failure, message: expect.stringContaining(says) });
    expect(await bench.leftOver()).toEqual([]);
    // An error response costs nothing.
    if ('status' in turn) expect(trial.usage()).toMatchObject({ requests: 0, costUsd: 0 });
  });

  it('is reported as network when nobody answers', async () => {
    const server = await bench.model(DONE);
    await server.stop();
    expect(await bench.start(server.url).end).toMatchObject({ failure: 'network' });
  });

  it('tells when to come back, if the vendor did', async () => {
    const server = await bench.model(refusals.rateLimit(1));
    const from = Date.now();
    const end = await bench.start(server.url).end;
    expect(end).toMatchObject({ failure: 'rate_limit', retryAt: expect.any(Number) });
    expect((end as { retryAt: number }).retryAt).toBeGreaterThan(from);
  });

  it('tells when a subscription’s limit is over', async () => {
    const reset = Math.floor(Date.now() / 1000) + 7200;
    const server = await bench.model(refusals.usageLimit(reset));
    await mkdir(path.join(bench.home, '.claude'));
    await writeFile(path.join(bench.home, '.claude', '.credentials.json'), login('token-1'));
    const trial = bench.start(server.url, { config: { env: { ANTHROPIC_API_KEY: '' } } });
    expect(await trial.end).toMatchObject({ failure: 'rate_limit', retryAt: reset * 1000 });
    expect(server.requests).toHaveLength(1);
  });

  it('is waited out when it is short', async () => {
    const server = await bench.model(({ index }) => (index === 0 ? refusals.overloaded : DONE));
    expect(await bench.start(server.url).end).toEqual(done);
  });

  it('is reported as a limit of turns when the agent goes in circles', async () => {
    const server = await bench.model(call('Bash', { command: 'true' }));
    const trial = bench.start(server.url, { maxTurns: 2 });
    expect(await trial.end).toMatchObject({ failure: 'turn_limit' });
    expect(trial.usage()).toEqual({ inputTokens: 200, outputTokens: 40, costUsd: 0.0016, requests: 2 });
  });
});
