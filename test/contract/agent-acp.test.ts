import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GuardVerdict } from '../../packages/daemon/src/ports.ts';
import { sandboxStatus } from '../../packages/daemon/src/process/sandbox.ts';
import { acpStarter, config, DONE, type FakeScript, fake, RESULT, runs } from './acp-bench.ts';
import { AgentBench, AT_ONCE_MS, BRIEF, MOST_MS } from './agent-bench.ts';

const status = await sandboxStatus();
if (!status.available) console.log(`skipped: agents in a sandbox, since ${status.why}`);

const REVIEW = { ...BRIEF, mode: 'review' as const };
const deny = async (): Promise<GuardVerdict> => ({ kind: 'deny', guard: 'push', reason: 'nobody pushes from here' });

describe.each(['off', 'auto'] as const)('an ACP agent, sandbox %s', (sandbox) => {
  let bench: AgentBench;
  beforeEach(async (context) => {
    context.skip(sandbox === 'auto' && !status.available, status.why);
    bench = await AgentBench.open(sandbox);
  });
  afterEach(async () => {
    expect(await bench.leftOver()).toEqual([]);
    await bench.close();
  });
  const start = (script: FakeScript) => acpStarter(bench, fake(script));

  it('hands back its result, what it said, and its session', async () => {
    const steps = [{ say: 'working, ü\n' }, { write: 'made.txt' }, runs('npm test'), { say: RESULT }];
    const trial = start({ turns: [steps] })();
    expect(await trial.end).toEqual(DONE);
    expect(trial.output()).toBe(`working, ü\nwrote made.txt\n[execute] npm test\nchose yes\n${RESULT}`);
    expect(await bench.read('made.txt')).toBe('written\n');
    expect(trial.sessions).toEqual(['session-1']);
    expect(trial.asked).toEqual([{ tool: 'Bash', input: { command: 'npm test' } }]);
    expect(trial.usage()).toEqual({ inputTokens: 0, outputTokens: 0, costUsd: null, requests: 2 });
  });

  it('gets the reason when it ends its turn after a denial, and continues', async () => {
    const push = runs('git push --force', { ends: 'cancelled' });
    const trial = start({ turns: [[push], [{ echo: true }, { say: RESULT }]] })({ guard: deny });
    expect(await trial.end).toEqual(DONE);
    expect(trial.output()).toContain('[denied] nobody pushes from here\n');
    expect(trial.output()).toMatch(/was denied[\s\S]*nobody pushes from here[\s\S]*Continue in another way/);
  });

  it.each(['refusal', 'cancelled'])(
    'has refused when it ends with %s over every denial, after three more tries',
    async (ends) => {
      const trial = start({ turns: [[runs('git push', { ends })]] })({ guard: deny });
      const end = await trial.end;
      expect(end).toMatchObject({ kind: 'failed', failure: 'refused' });
      expect(end).toHaveProperty('message', expect.stringContaining('nobody pushes from here'));
      expect(trial.asked).toHaveLength(4);
    },
  );

  it('cannot change a file while it is only to read', async () => {
    const steps = [
      { write: 'stray.txt' },
      runs('cat a.txt'),
      { permit: { toolCall: { toolCallId: 'e', kind: 'edit', rawInput: { filePath: 'a.txt', content: 'x' } } } },
      { permit: { toolCall: { toolCallId: 'r', kind: 'read', rawInput: { path: 'a.txt' } } } },
      { say: '{"outcome":"changes_requested","review":{"comments":["no"]}}' },
    ];
    const trial = start({ turns: [steps] })({ brief: REVIEW });
    expect(await trial.end).toMatchObject({ envelope: { outcome: 'changes_requested' } });
    expect(trial.output().match(/chose \w+/g)).toEqual(['chose no', 'chose no', 'chose yes']);
    expect(trial.denied).toMatchObject([
      { tool: 'Bash', guard: 'read-only', reason: expect.stringContaining('read files instead') },
      { tool: 'Write', guard: 'read-only' },
    ]);
    if (sandbox === 'auto') expect(trial.output()).toMatch(/^EROFS\n/);
  });

  it('is stopped within seconds when it does not hear, and what it started with it', async () => {
    const steps = [{ start: 'sleep 1000' }, { say: 'hanging' }, { hang: true }];
    const trial = start({ turns: [steps], deafToSigterm: true })();
    await trial.says('hanging');
    const startedAt = performance.now();
    await trial.session.stop();
    expect(performance.now() - startedAt).toBeLessThan(MOST_MS);
    expect(await trial.end).toEqual({ kind: 'failed', failure: 'crash', message: 'stopped', exitCode: null });
  });

  it('is stopped at once when it hears, and what it has spent is booked', async () => {
    const usage = { inputTokens: 40, outputTokens: 2, cachedReadTokens: 5 };
    const steps = [{ say: 'waiting' }, { wait: true }, { end: { stopReason: 'cancelled', usage } }];
    const trial = start({ turns: [steps] })();
    await trial.says('waiting');
    const startedAt = performance.now();
    await trial.session.stop();
    expect(performance.now() - startedAt).toBeLessThan(AT_ONCE_MS);
    expect(await trial.end).toMatchObject({ message: 'stopped' });
    expect(trial.usage()).toEqual({ inputTokens: 45, outputTokens: 2, costUsd: null, requests: 1 });
  });

  it('fails with a timeout when it runs out of time', async () => {
    const trial = start({ turns: [[{ say: 'hanging' }, { hang: true }]] })({ timeoutMs: 4_000 });
    expect(await trial.end).toMatchObject({ kind: 'failed', failure: 'timeout' });
    expect(trial.usage().requests).toBe(1);
  });

  it('has crashed when it exits with an error or is killed', async () => {
    const crashed = await start({ turns: [[{ say: 'x' }, { complain: 'oh no\n' }, { exit: 3 }]] })().end;
    expect(crashed).toMatchObject({ kind: 'failed', failure: 'crash', exitCode: 3 });
    expect(crashed).toHaveProperty('message', expect.stringMatching(/code 3[\s\S]*oh no/));
    const killed = await start({ turns: [[{ kill: 'SIGKILL' }]] })().end;
    expect(killed).toMatchObject({ kind: 'failed', failure: 'crash' });
    const loggedOut = await start({ turns: [[{ complain: 'You are not logged in.\n' }, { exit: 41 }]] })().end;
    expect(loggedOut).toMatchObject({ kind: 'failed', failure: 'auth', exitCode: 41 });
  });
});

describe('the program of an ACP agent', () => {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await AgentBench.open('off');
  });
  afterEach(() => bench.close());

  it.each([
    [
      { preset: 'gemini' as const },
      'there is no program gemini on PATH; `npm install -g @google/gemini-cli` installs it',
    ],
    [
      { command: ['opencode', 'acp'] },
      'there is no program opencode on PATH; `npm install -g opencode-ai` installs it',
    ],
    [{ command: ['./none'] }, 'none does not exist'],
  ])('is named when it is missing: %j', async (given, says) => {
    const end = await acpStarter(bench, config({ ...given, env: { PATH: '/nowhere' } }))().end;
    expect(end).toMatchObject({ kind: 'failed', failure: 'spawn', message: expect.stringContaining(says) });
  });

  it('is found among what the repository has installed', async () => {
    const bin = path.join(bench.host.root, 'node_modules', '.bin');
    await mkdir(bin, { recursive: true });
    await writeFile(path.join(bin, 'codex-acp'), '#!/bin/sh\necho found me >&2; exit 4\n', { mode: 0o755 });
    const end = await acpStarter(bench, config({ preset: 'codex-acp', env: { HOME: path.join(bench.base, 'home') } }))()
      .end;
    expect(end).toMatchObject({ failure: 'crash', exitCode: 4, message: expect.stringContaining('found me') });
  });
});
