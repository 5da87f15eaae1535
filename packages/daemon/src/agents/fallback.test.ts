import { describe, expect, it } from 'vitest';
import type { Agent, AgentEnd, AgentRequest } from '../ports.ts';
import { withFallback } from './fallback.ts';

const RESULT: AgentEnd = { kind: 'result', envelope: { outcome: 'pr_ready', summary: 'done' } };
const down = (retryAt?: number): AgentEnd => ({
  kind: 'failed',
  failure: 'rate_limit',
  message: 'too many requests',
  exitCode: null,
  retryAt,
});

function agent(label: string, ends: AgentEnd[]): Agent & { started: (string | null)[] } {
  const started: (string | null)[] = [];
  return {
    label,
    started,
    start: ({ resume }, told) => {
      started.push(resume);
      told.session(`session of ${label}`);
      return { end: Promise.resolve(ends.shift() ?? RESULT), stop: async () => undefined };
    },
  };
}

const request = { resume: 'session-1' } as AgentRequest;
const said: string[] = [];
const sessions: string[] = [];
const sink = {
  output: (text: string) => void said.push(text),
  usage: () => undefined,
  progress: () => undefined,
  session: (id: string) => void sessions.push(id),
} as never;

describe('a chain of agents', () => {
  it('passes the run to the next agent when the first is down, and reports it', async () => {
    const [first, second] = [agent('one', [down()]), agent('two', [])];
    const end = await withFallback(first, [second], { now: () => 0 }).start(request, sink).end;
    expect(end).toEqual(RESULT);
    expect([first.started, second.started]).toEqual([['session-1'], [null]]);
    expect(said.join('')).toContain('two takes over');
  });

  it('skips an agent that is down until its retry time', async () => {
    let now = 0;
    const [first, second] = [agent('one', [down(1000)]), agent('two', [])];
    const chain = withFallback(first, [second], { now: () => now });
    await chain.start(request, sink).end;
    await chain.start(request, sink).end;
    expect(first.started).toHaveLength(1);
    now = 1000;
    await chain.start(request, sink).end;
    expect(first.started).toHaveLength(2);
  });

  it('does not pass on a run that failed because of the work', async () => {
    const failure: AgentEnd = { kind: 'failed', failure: 'invalid_result', message: 'no', exitCode: 0 };
    const second = agent('two', []);
    expect(await withFallback(agent('one', [failure]), [second], { now: () => 0 }).start(request, sink).end).toEqual(
      failure,
    );
    expect(second.started).toEqual([]);
  });

  it('returns the last failure when all are down', async () => {
    const chain = withFallback(agent('one', [down(), down()]), [agent('two', [down()])], { now: () => 0 });
    expect(await chain.start(request, sink).end).toMatchObject({ failure: 'rate_limit' });
    expect(await chain.start(request, sink).end).toMatchObject({ failure: 'rate_limit' });
  });

  it('resumes a session with the agent that began it, and with no other', async () => {
    let now = 0;
    const [first, second] = [agent('one', [down(1000)]), agent('two', [])];
    const chain = withFallback(first, [second], { now: () => now });
    sessions.length = 0;
    await chain.start({ ...request, resume: null }, sink).end;
    expect(sessions).toEqual(['session of one', '2:session of two']);
    await chain.start({ ...request, resume: sessions[1]! }, sink).end;
    expect(second.started).toEqual([null, 'session of two']);
    now = 1000; // the first is available again, but the session belongs to another agent
    await chain.start({ ...request, resume: sessions[1]! }, sink).end;
    expect(first.started).toEqual([null, null]);
  });
});
