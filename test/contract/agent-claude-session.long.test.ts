import { appendFile, mkdir, readdir, readFile, truncate } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ToolCall } from '../../packages/daemon/src/ports.ts';
import { call, type MessagesScript, say, structured } from '../support/model/messages.ts';
import { until } from '../support/until.ts';
import { BRIEF, type Trial } from './agent-bench.ts';
import { type ClaudeBench, DONE, done } from './claude-bench.ts';
import { onClaudeBench } from './claude-suite.ts';

let bench: ClaudeBench;
onClaudeBench((opened) => {
  bench = opened;
});

const PATIENT = { timeout: 30_000 };
const NEVER = new Promise(() => undefined);
const told = (prompt: string) => ({ brief: { ...BRIEF, prompt } });
/** The model says nothing to the request of this number. */
const silentAt =
  (silent: number): MessagesScript =>
  ({ index }) =>
    index === silent ? say('', { after: NEVER }) : call('Bash', { command: `echo step ${index}` });

async function sessionFile(): Promise<string> {
  const folder = path.join(bench.host.dataDir, 'claude');
  const files = await readdir(folder, { recursive: true });
  return path.join(folder, files.find((file) => file.endsWith('.jsonl')) ?? '');
}

describe('the wishes of a prompt to Claude Code', () => {
  it('choose the model, unless the agent has one of its own', async () => {
    const server = await bench.model(DONE);
    await bench.start(server.url, { model: 'claude-haiku-4-5' }).end;
    await bench.start(server.url, { model: 'claude-haiku-4-5', config: { model: 'claude-sonnet-5-5' } }).end;
    expect(server.requests.map(({ body }) => body.model)).toEqual(['claude-haiku-4-5', 'claude-sonnet-5-5']);
  });

  it('choose tools, never more than the mode allows', async () => {
    const server = await bench.model(({ body }) =>
      JSON.stringify(body.messages).includes('Judge')
        ? structured({ outcome: 'changes_requested', summary: 'no' })
        : DONE,
    );
    const tools = ['Read', 'Write', 'Bash'];
    await bench.start(server.url, { tools }).end;
    await bench.start(server.url, { tools, brief: { ...BRIEF, mode: 'review', prompt: 'Judge it.' } }).end;
    const known = [...tools, 'Edit', 'Grep', 'NotebookEdit', 'Agent'];
    const offered = server.requests.map(({ body }) =>
      known.filter((tool) => body.tools?.some(({ name }) => name === tool)),
    );
    expect(offered).toEqual([tools, ['Read', 'Bash']]);
  });
});

it('Claude Code tells the guards where its shell stands', async () => {
  await mkdir(path.join(bench.worktree, 'sub'));
  const server = await bench.model([call('Bash', { command: 'cd sub' }), call('Bash', { command: 'ls' }), DONE]);
  const asked: ToolCall[] = [];
  const guard = async (toolCall: ToolCall) => {
    asked.push(toolCall);
    return { kind: 'allow' } as const;
  };
  expect(await bench.start(server.url, { guard }).end).toEqual(done);
  expect(asked.map(({ cwd }) => cwd)).toEqual([bench.worktree, path.join(bench.worktree, 'sub')]);
});

describe('the booked costs of a stopped run', () => {
  it('include each request as it goes, and one without a price for what was never answered', async () => {
    const server = await bench.model(silentAt(1));
    const trial = bench.start(server.url);
    await server.arrived(2);
    await expect
      .poll(() => trial.usage(), PATIENT)
      .toEqual({ inputTokens: 100, outputTokens: 20, requests: 1, costUsd: 0.0008 });
    await trial.session.stop();
    expect(trial.usage()).toEqual({ inputTokens: 100, outputTokens: 20, requests: 2, costUsd: null });
  });

  it('include what was reported of a broken answer', async () => {
    const slow = say('word '.repeat(40), { paceMs: 300, usage: { input: 1000, output: 500 } });
    const server = await bench.model(slow);
    const trial = bench.start(server.url);
    await expect.poll(() => trial.usage().inputTokens, PATIENT).toBe(1000);
    await trial.session.stop();
    expect(trial.usage()).toEqual({ inputTokens: 1000, outputTokens: 1, requests: 1, costUsd: 0.00402 });
  });

  it('are nothing when nothing was asked', async () => {
    const server = await bench.model(DONE);
    const trial = bench.start(server.url);
    await trial.session.stop();
    expect(trial.usage().requests).toBe(0);
  });
});

describe('a session of Claude Code that was cut short', () => {
  /** Killed from outside, as with the daemon itself, while the model is asked for the second time. */
  async function killed(): Promise<Trial> {
    const server = await bench.model(silentAt(1));
    const trial = bench.start(server.url, told('The first prompt.'));
    await server.arrived(2);
    // It writes its session beside asking: what is cut short here is the answer, not that file.
    await until(async () => (await readFile(await sessionFile(), 'utf8')).includes('echo step 0'));
    const program = (await bench.leftOver()).find(({ command }) => /\/claude /.test(command) && !/bwrap/.test(command));
    process.kill(program!.pid, 'SIGKILL');
    expect(await trial.end).toMatchObject({ kind: 'failed', failure: 'crash' });
    expect(trial.usage()).toMatchObject({ requests: 2, costUsd: null });
    return trial;
  }

  it.each([
    ['as it is', async () => undefined],
    ['with half a line at its end', async () => appendFile(await sessionFile(), '{"parentUuid":"x","type":"us')],
  ])('goes on in another run, %s, and again, and is booked once', async (_how, spoil) => {
    const first = await killed();
    await spoil();
    const server = await bench.model(DONE);
    for (const prompt of ['And on.', 'And further on.']) {
      const next = bench.start(server.url, { ...told(prompt), resume: first.sessions[0] });
      expect(await next.end).toEqual(done);
      expect(next.sessions).toEqual(first.sessions);
      expect(next.usage()).toEqual({ inputTokens: 100, outputTokens: 20, requests: 1, costUsd: 0.0008 });
    }
    const [once, twice] = server.requests;
    expect(JSON.stringify(once?.body.messages)).toContain('echo step 0');
    expect(JSON.stringify(twice?.body.messages)).toMatch(/The first prompt[\s\S]*And on[\s\S]*And further on/);
  });

  it('starts a new session when nothing is left of it', async () => {
    const first = await killed();
    await truncate(await sessionFile(), 0);
    const server = await bench.model(DONE);
    const next = bench.start(server.url, { resume: first.sessions[0] });
    expect(await next.end).toEqual(done);
    expect(next.sessions).not.toEqual(first.sessions);
    expect(next.output()).toContain('cannot be resumed');
    expect(next.usage()).toMatchObject({ requests: 1, costUsd: 0.0008 });
  });

  it('starts a new session when it no longer exists', async () => {
    const server = await bench.model(DONE);
    expect(await bench.start(server.url, { resume: crypto.randomUUID() }).end).toEqual(done);
  });
});
