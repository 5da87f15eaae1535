import { appendFile, readdir, readFile, truncate } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ToolCall } from '../../packages/daemon/src/ports.ts';
import { answer, exec, say, turn } from '../support/model/responses.ts';
import { BRIEF } from './agent-bench.ts';
import { CodexBench, missing, RESULT } from './codex-bench.ts';

const told = (prompt: string) => ({ brief: { ...BRIEF, prompt } });
const PATIENT = { timeout: 30_000 };

describe('a codex agent', () => {
  let bench: CodexBench;
  beforeEach(async (context) => {
    context.skip(missing !== null, missing ?? '');
    bench = await CodexBench.open('auto');
  });
  afterEach(async () => {
    expect(await bench.leftOver()).toEqual([]);
    await bench.close();
  });
  const sessionFiles = async () => {
    const folder = path.join(bench.host.dataDir, 'codex');
    const files = await readdir(folder, { recursive: true });
    return files.filter((file) => file.endsWith('.jsonl')).map((file) => path.join(folder, file));
  };

  it('goes on with an earlier session, which is not booked twice', async () => {
    const server = await bench.model([turn(say('one'), answer(RESULT)), turn(exec('true')), turn(answer(RESULT))]);
    const first = bench.start(server.url, { brief: { ...BRIEF, prompt: 'The first prompt.' } });
    await first.end;
    const before = { ...server.sent };
    const second = bench.start(server.url, { resume: first.sessions[0]!, brief: { ...BRIEF, prompt: 'And on.' } });
    expect(await second.end).toMatchObject({ kind: 'result' });
    expect(second.sessions).toEqual(first.sessions);
    expect(JSON.stringify(server.requests[1]?.body.input)).toMatch(/The first prompt\.[\s\S]*And on\./);
    expect(first.usage()).toMatchObject({ inputTokens: before.input, outputTokens: before.output, requests: 1 });
    expect(second.usage()).toMatchObject({
      inputTokens: server.sent.input - before.input,
      outputTokens: server.sent.output - before.output,
      requests: 2,
    });
  });

  it('starts a new session when the old one is gone', async () => {
    const server = await bench.model([turn(answer(RESULT))]);
    const trial = bench.start(server.url, { resume: '01a1e176-9c02-7a11-b2b1-a376798fcff5' });
    expect(await trial.end).toMatchObject({ kind: 'result' });
  });

  it('works on a copy of a session that another run has begun, and of the newest', async () => {
    const server = await bench.model(turn(answer(RESULT)));
    const first = bench.start(server.url, told('The first prompt.'));
    await first.end;
    const [begun = ''] = await sessionFiles();
    const before = await readFile(begun, 'utf8');
    for (const prompt of ['And on.', 'And further on.'])
      await bench.start(server.url, { ...told(prompt), resume: first.sessions[0]! }).end;
    expect(await readFile(begun, 'utf8')).toBe(before);
    expect(await sessionFiles()).toHaveLength(3);
    expect(JSON.stringify(server.requests[2]?.body.input)).toMatch(/The first[\s\S]*And on\.[\s\S]*And further on/);
  });

  it.each([
    [
      'half a line at its end',
      true,
      (file: string) => appendFile(file, '{"timestamp":"2026-11-16T00:36:28.932Z","ord'),
    ],
    ['nothing left in it', false, (file: string) => truncate(file, 0)],
  ])('goes on with a session with %s as far as that is possible', async (_what, isKept, spoil) => {
    const server = await bench.model(turn(answer(RESULT)));
    const first = bench.start(server.url, told('The first prompt.'));
    await first.end;
    await spoil((await sessionFiles())[0]!);
    const second = bench.start(server.url, { ...told('And on.'), resume: first.sessions[0]! });
    expect(await second.end).toMatchObject({ kind: 'result' });
    expect(second.usage()).toEqual(first.usage());
    expect(second.sessions[0] === first.sessions[0]).toBe(isKept);
    expect(JSON.stringify(server.requests[1]?.body.input).includes('The first prompt.')).toBe(isKept);
  });

  it('is booked as it goes, and without a price for what was asked when it is stopped', async () => {
    const server = await bench.model([turn(exec('true')), { kind: 'hang' }]);
    const trial = bench.start(server.url);
    await server.arrived(2);
    await expect.poll(() => trial.usage(), PATIENT).toMatchObject({ requests: 1, costUsd: 0.00071 });
    await trial.session.stop();
    expect(trial.usage()).toEqual({ inputTokens: 100, outputTokens: 10, requests: 2, costUsd: null });
    const next = await bench.model(turn(answer(RESULT)));
    const again = bench.start(next.url, { resume: trial.sessions[0]! });
    expect(await again.end).toMatchObject({ kind: 'result' });
    expect(again.usage()).toEqual({ inputTokens: 100, outputTokens: 10, requests: 1, costUsd: 0.00071 });
    await server.stop();
  });

  it('has the model that the prompt asks for, unless it has one of its own', async () => {
    const server = await bench.model(turn(answer(RESULT)));
    await bench.start(server.url, { model: 'gpt-5.4', config: { model: undefined } }).end;
    await bench.start(server.url, { model: 'gpt-5.4' }).end;
    expect(server.requests.map(({ body }) => body.model)).toEqual(['gpt-5.4', 'gpt-5.5']);
  });

  it('tells the guards in which folder a command starts', async () => {
    const elsewhere: ToolCall[] = [];
    const cmd = { kind: 'call', tool: 'exec_command', input: { cmd: 'pwd', workdir: bench.base } } as const;
    const server = await bench.model([turn(cmd), turn(answer(RESULT))]);
    const guard = async (call: ToolCall) => {
      elsewhere.push(call);
      return { kind: 'deny', guard: 'worktree', reason: 'not from there' } as const;
    };
    expect(await bench.start(server.url, { guard }).end).toMatchObject({ kind: 'result' });
    expect(elsewhere).toEqual([{ tool: 'Bash', cwd: bench.base, input: { command: 'pwd' } }]);
  });

  it('has no price for a model nobody knows, but counts its requests', async () => {
    const server = await bench.model([turn(answer(RESULT))]);
    const trial = bench.start(server.url, { config: { model: 'gpt-of-tomorrow' } });
    expect(await trial.end).toMatchObject({ kind: 'result' });
    expect(trial.usage()).toEqual({ inputTokens: 100, outputTokens: 10, requests: 1, costUsd: null });
  });

  it('costs what the repository says', async () => {
    await bench.prices('gpt-of-tomorrow: { input: 1000, cached: 100, output: 5000 }\n');
    const server = await bench.model([turn(answer(RESULT))]);
    const trial = bench.start(server.url, { config: { model: 'gpt-of-tomorrow' } });
    expect(await trial.end).toMatchObject({ kind: 'result' });
    expect(trial.usage()).toEqual({ inputTokens: 100, outputTokens: 10, requests: 1, costUsd: 0.132 });
  });
});
