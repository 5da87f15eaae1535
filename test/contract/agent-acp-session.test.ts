import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acpStarter, DONE, fake, RESULT, runs, type Step } from './acp-bench.ts';
import { AgentBench } from './agent-bench.ts';

describe('the session of an ACP agent', () => {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await AgentBench.open('off');
  });
  afterEach(() => bench.close());
  const cost = (amount: number): Step => ({
    update: { sessionUpdate: 'usage_update', used: 1, size: 2, cost: { amount, currency: 'USD' } },
  });
  const usage = { inputTokens: 100, outputTokens: 20 };

  it('goes on until the gates pass', async () => {
    const why = ['Gate test fails: 1 of 3', null];
    const trial = acpStarter(
      bench,
      fake({ turns: [[{ say: RESULT }], [{ echo: true }, { say: RESULT }]] }),
    )({
      beforeStop: async () => why.shift() ?? null,
    });
    expect(await trial.end).toEqual(DONE);
    expect(trial.output()).toContain('Gate test fails: 1 of 3');
  });

  it('has the tools of Tidemill where the agent can reach a server over HTTP', async () => {
    const mcp = { url: 'http://127.0.0.1:9/mcp', token: 'token-of-the-run' };
    const script = (http: boolean) =>
      fake({
        hello: { agentCapabilities: { mcpCapabilities: { http } } },
        tellsServers: true,
        turns: [[{ say: RESULT }]],
      });
    const able = acpStarter(bench, script(true))({ mcp });
    expect(await able.end).toEqual(DONE);
    const headers = [{ name: 'Authorization', value: 'Bearer token-of-the-run' }];
    expect(able.output()).toContain(
      `servers ${JSON.stringify([{ type: 'http', name: 'tidemill', url: mcp.url, headers }])}`,
    );
    const unable = acpStarter(bench, script(false))({ mcp });
    await unable.end;
    expect(unable.output()).toContain('servers []');
  });

  it('is resumed without repeating or paying for its past', async () => {
    const script = {
      hello: { agentCapabilities: { loadSession: true } },
      past: [
        { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'long ago {"outcome":"failed"}' } },
      ],
      turns: [
        [cost(0.25), { say: RESULT }, { end: { usage } }],
        [cost(0.25), { say: RESULT }],
      ],
    };
    const start = acpStarter(bench, fake(script));
    const first = start();
    expect(await first.end).toEqual(DONE);
    expect(first.usage()).toEqual({ ...usage, costUsd: 0.25, requests: 1 });

    const second = start({ resume: 'session-1' });
    expect(await second.end).toEqual(DONE);
    expect(second.sessions).toEqual(['session-1']);
    expect(second.output()).not.toContain('long ago');
    expect(second.usage()).toMatchObject({ inputTokens: 100, costUsd: 0 });

    const stranger = acpStarter(bench, fake(script))({ resume: 'session-1' });
    await stranger.end;
    expect(stranger.usage()).toMatchObject({ costUsd: null, requests: 1 });
  });

  it('is booked while it goes on, and a request under way when it is stopped', async () => {
    const steps = [cost(0.25), { say: 'one' }, runs('ls'), { wait: true }, { end: { stopReason: 'cancelled' } }];
    const trial = acpStarter(bench, fake({ turns: [steps] }))();
    await trial.says('chose yes');
    expect(trial.usage()).toMatchObject({ requests: 2, costUsd: null });
    await trial.session.stop();
    expect(trial.usage()).toMatchObject({ requests: 2, costUsd: null });

    const silent = acpStarter(bench, fake({ turns: [[{ print: 'asked\n' }, { hang: true }]] }))();
    await silent.says('asked');
    expect(silent.usage().requests).toBe(0);
    await silent.session.stop();
    expect(silent.usage()).toEqual({ inputTokens: 0, outputTokens: 0, requests: 1, costUsd: null });
  });

  it('has the price of its requests as soon as the sum is reported', async () => {
    const steps = [{ say: 'one' }, cost(0.25), runs('ls'), cost(0.5), { say: 'asked' }, { wait: true }];
    const trial = acpStarter(bench, fake({ turns: [[...steps, { end: { stopReason: 'cancelled' } }]] }))();
    await trial.says('asked');
    expect(trial.usage()).toMatchObject({ requests: 2, costUsd: 0.5 });
    await trial.session.stop();
  });

  it('is a new one where the old one cannot be had', async () => {
    const loadError = { code: -32002, message: 'Resource not found' };
    const hello = { agentCapabilities: { loadSession: true } };
    const trial = acpStarter(bench, fake({ hello, loadError, turns: [[{ say: RESULT }]] }))({ resume: 'gone' });
    expect(await trial.end).toEqual(DONE);
    expect(trial.sessions).toEqual(['session-1']);
    expect(trial.output()).toContain('[session gone cannot be resumed: Resource not found]');
    const unable = acpStarter(bench, fake({ turns: [[{ say: RESULT }]] }))({ resume: 'gone' });
    expect(await unable.end).toEqual(DONE);
  });

  it('asks before it acts, and has the wanted model', async () => {
    const session = {
      modes: {
        currentModeId: 'yolo',
        availableModes: [
          { id: 'yolo', name: '' },
          { id: 'default', name: '' },
        ],
      },
      configOptions: [
        {
          id: 'm',
          name: 'Model',
          category: 'model',
          type: 'select',
          currentValue: 'small',
          options: [{ value: 'large', name: '' }],
        },
      ],
    };
    const script = { session, turns: [[{ say: RESULT }]] };
    const trial = acpStarter(bench, fake(script, { model: 'large' }))();
    expect(await trial.end).toEqual(DONE);
    expect(trial.output()).toContain('m is large\nmode default\n');
    const asked = acpStarter(bench, fake(script))({ model: 'large' });
    expect(await asked.end).toEqual(DONE);
    expect(asked.output()).toContain('m is large\n');
    const end = await acpStarter(bench, fake(script, { model: 'huge' }))({ model: 'large' }).end;
    expect(end).toMatchObject({ failure: 'unknown', message: 'the agent has no model huge; it has large' });
  });

  it('has its tokens counted also when they are told in another place', async () => {
    const _meta = { quota: { token_count: { input_tokens: 300, output_tokens: 60 }, model_usage: [] } };
    const trial = acpStarter(bench, fake({ turns: [[{ say: RESULT }, { end: { _meta } }]] }))();
    await trial.end;
    expect(trial.usage()).toEqual({ inputTokens: 300, outputTokens: 60, costUsd: null, requests: 1 });
  });

  it('tells its plan as progress', async () => {
    const entries = [
      { content: 'look', priority: 'high', status: 'completed' },
      { content: 'write', priority: 'high', status: 'in_progress' },
    ];
    const trial = acpStarter(
      bench,
      fake({ turns: [[{ update: { sessionUpdate: 'plan', entries } }, { say: RESULT }]] }),
    )();
    await trial.end;
    const todo = [
      { text: 'look', status: 'done' },
      { text: 'write', status: 'active' },
    ];
    expect(trial.seen.progress).toEqual([{ todo }]);
  });
});
