import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { GuardVerdict, ToolCall } from '../../packages/daemon/src/ports.ts';
import { sandboxStatus } from '../../packages/daemon/src/process/sandbox.ts';
import {
  call,
  type MessagesRequest,
  type MessagesScript,
  type MessagesServer,
  type MessagesTurn,
  refusals,
  say,
  startMessagesServer,
  toolResults,
} from '../support/model/messages.ts';
import { OTHER_MODEL, openCodeEnv } from '../support/opencode.ts';
import { installVendor } from '../support/vendor.ts';
import { acpStarter, config } from './acp-bench.ts';
import { AgentBench, BRIEF, MOST_MS } from './agent-bench.ts';

// The vendors' own programs against a scripted model on loopback: what they write and run is real.

interface Vendor {
  name: 'claude-agent-acp' | 'opencode';
  package: [name: string, version: string];
  /** One that it offers beside the usual, as it is chosen and as its model server hears of it. */
  model: { asked: string; used: string };
  env(url: string, bin: string): Record<string, string>;
  write(file: string, content: string): MessagesTurn;
  run(command: string): MessagesTurn;
}

// Real programs on a busy machine: their start alone may take seconds.
vi.setConfig({ testTimeout: 120_000 });

const VENDORS: Vendor[] = [
  {
    name: 'claude-agent-acp',
    package: ['@agentclientprotocol/claude-agent-acp', '0.99.1'],
    model: { asked: 'haiku', used: 'haiku' },
    env: (url) => ({
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'dummy',
      CLAUDE_CODE_MAX_RETRIES: '1',
      ENABLE_TOOL_SEARCH: 'false',
    }),
    write: (file_path, content) => call('Write', { file_path, content }),
    run: (command) => call('Bash', { command, description: 'as told' }),
  },
  {
    name: 'opencode',
    package: ['opencode-ai', '1.18.33'],
    model: { asked: `anthropic/${OTHER_MODEL}`, used: OTHER_MODEL },
    env: openCodeEnv,
    write: (filePath, content) => call('write', { filePath, content }),
    run: (command) => call('bash', { command, description: 'as told' }),
  },
];

/** What the vendors make of the tokens that the model server tells of, at most. */
const USD_PER_REQUEST = 0.0008;
const RESULT = say('Done.\n```json\n{"outcome":"pr_ready","summary":"made it"}\n```\n');
const REVIEW = { ...BRIEF, mode: 'review' as const, prompt: 'Review it.' };
/** Each turn answers the tool results so far; what has no tools is a title or the like. */
const inTurn =
  (turns: MessagesTurn[]): MessagesScript =>
  (request) =>
    request.body.tools?.length ? (turns[toolResults(request).length] ?? RESULT) : say('a title');

const { available, why } = await sandboxStatus();
if (!available) console.log(`vendors run unsandboxed, since ${why}`);
const installed = await Promise.all(
  VENDORS.map(({ name, package: [pack, version] }) => installVendor(pack, version, name)),
);

describe.each(VENDORS.map((vendor, index) => ({ ...vendor, found: installed[index]! })))('$name', (vendor) => {
  const { found } = vendor;
  if ('missing' in found) console.log(`skipped: ${vendor.name}, since ${found.missing}`);
  let bench: AgentBench;
  let server: MessagesServer;
  beforeEach(async (context) => {
    if ('missing' in found) return context.skip(true, found.missing);
    bench = await AgentBench.open('auto');
    await mkdir(path.join(bench.base, 'home'));
    await writeFile(path.join(bench.worktree, 'a.txt'), 'hello\n');
  });
  afterEach(async () => {
    await server?.stop();
    expect(await bench.leftOver()).toEqual([]);
    expect(server?.others.filter((other) => !other.includes('opencode-ai'))).toEqual([]);
    await bench.close();
  });

  async function start(script: MessagesScript) {
    server = await startMessagesServer(script);
    const bin = 'bin' in found ? found.bin : '';
    const PATH = [bin, process.env.PATH].join(path.delimiter);
    const env = { ...vendor.env(server.url, bin), PATH, HOME: path.join(bench.base, 'home') };
    return acpStarter(bench, config({ preset: vendor.name, env }));
  }
  const inWorktree = (file: string) => path.join(bench.worktree, file);
  const modelRequests = () => server.requests.filter(({ body }) => body.tools?.length);

  // Each start of these programs takes seconds of a core, so one run shows what one run can.
  it('writes a file, runs a command, hands in its result and cost, has the model asked for, and goes on in another process', async () => {
    const turns = [vendor.write(inWorktree('made.txt'), 'made\n'), vendor.run('cat made.txt > copy.txt; ls')];
    const begin = await start(inTurn(turns));
    const trial = begin({ model: vendor.model.asked, timeoutMs: 90_000 });
    expect(await trial.end).toEqual({ kind: 'result', envelope: { outcome: 'pr_ready', summary: 'made it' } });
    expect(await bench.read('copy.txt')).toBe('made\n');
    expect(trial.asked).toEqual([
      { tool: 'Write', input: { file_path: inWorktree('made.txt'), content: 'made\n' } },
      { tool: 'Bash', input: expect.objectContaining({ command: 'cat made.txt > copy.txt; ls' }) },
    ]);
    expect(trial.output()).toMatch(/\[edit\] .*made\.txt[\s\S]*\[execute\] cat made.txt > copy.txt; ls\n[\s\S]*Done\./);
    const { requests, costUsd, inputTokens, outputTokens } = trial.usage();
    expect(requests).toBe(modelRequests().length);
    expect(costUsd).toBeGreaterThan(0);
    // opencode tells the tokens of a turn's last request only; its cost is that of all.
    const told = vendor.name === 'opencode' ? 1 : requests;
    expect({ inputTokens, outputTokens }).toEqual({ inputTokens: 100 * told, outputTokens: 20 * told });
    for (const { body } of modelRequests()) expect(body.model).toContain(vendor.model.used);

    const again = { ...BRIEF, prompt: 'And again.' };
    const second = begin({ timeoutMs: 90_000, resume: trial.sessions[0]!, brief: again });
    expect(await second.end).toMatchObject({ kind: 'result' });
    expect(second.sessions).toEqual(trial.sessions);
    expect(JSON.stringify(modelRequests().at(-1)?.body.messages)).toMatch(/Do it, ü\.[\s\S]*And again\./);
    // Whether a title is asked for in the first turn or in the second, nobody knows; each request is paid for once.
    const spent = (costUsd ?? 0) + (second.usage().costUsd ?? 0);
    expect(spent).toBeLessThanOrEqual(server.requests.length * USD_PER_REQUEST + 1e-9);
  });

  it('says which models there are when it is asked for another', async () => {
    const trial = (await start(inTurn([])))({ model: 'no-such', timeoutMs: 90_000 });
    expect(await trial.end).toMatchObject({
      kind: 'failed',
      failure: 'unknown',
      message: expect.stringContaining(`has no model no-such; it has`),
    });
  });

  it('is denied a command, hears why at the latest when it gives up, and does it otherwise', async () => {
    const guard = async ({ input }: ToolCall): Promise<GuardVerdict> =>
      String(input.command ?? '').includes('push')
        ? { kind: 'deny', guard: 'push', reason: 'nobody pushes from here' }
        : { kind: 'allow' };
    const turns = [vendor.run('touch pushed; git push --force'), vendor.write(inWorktree('made.txt'), 'made\n')];
    const trial = (await start(inTurn(turns)))({ guard, timeoutMs: 90_000 });
    expect(await trial.end).toMatchObject({ kind: 'result' });
    expect((await readdir(bench.worktree)).sort()).toEqual(['a.txt', 'made.txt']);
    expect(trial.output()).toContain('[denied] nobody pushes from here');
    const heard = JSON.stringify(modelRequests().map(({ body }) => body.messages));
    if (vendor.name === 'opencode') expect(heard).toContain('nobody pushes from here');
  });

  it('changes nothing while it reviews, and repairs its verdict', async () => {
    const wrote = [vendor.write(inWorktree('stray.txt'), 'x'), vendor.run('touch other.txt')];
    const verdict = { outcome: 'changes_requested', summary: 'no', review: { criteria: [], comments: ['Round it.'] } };
    const script = (request: MessagesRequest): MessagesTurn => {
      if (!request.body.tools?.length) return say('a title');
      const asksAgain = JSON.stringify(request.body.messages).includes('could not be read');
      return asksAgain ? say(JSON.stringify(verdict)) : (wrote[toolResults(request).length] ?? say('I dislike it.'));
    };
    const trial = (await start(script))({ brief: REVIEW, timeoutMs: 90_000 });
    expect(await trial.end).toEqual({ kind: 'result', envelope: verdict });
    expect(await readdir(bench.worktree)).toEqual(['a.txt']);
  });

  it('is stopped while it runs a command, and nothing is left', async () => {
    const turns = [vendor.run('echo started > started.txt; sleep 1000')];
    const trial = (await start(inTurn(turns)))({ timeoutMs: 90_000 });
    await expect.poll(() => bench.read('started.txt').catch(() => ''), { timeout: 60_000 }).toBe('started\n');
    const startedAt = performance.now();
    await trial.session.stop();
    expect(performance.now() - startedAt).toBeLessThan(MOST_MS);
    expect(await trial.end).toEqual({ kind: 'failed', failure: 'crash', message: 'stopped', exitCode: null });
  });

  it.each([
    ['auth', refusals.auth],
    ['credit', refusals.lowBalance],
  ] as const)('fails with %s', async (failure, refusal) => {
    const trial = (await start(refusal))({ timeoutMs: 90_000 });
    expect(await trial.end).toMatchObject({ kind: 'failed', failure });
  });
});
