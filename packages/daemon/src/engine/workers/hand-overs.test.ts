import { LEASE_CAP_MS } from '@tidemill/core';
import { afterEach, describe, expect, test } from 'vitest';
import { EngineBed, quickAgent } from '../../../../../test/support/engine-bed.ts';
import { openLoop, proposalDraft, proposer, slowAgent } from '../../../../../test/support/loop-bed.ts';
import type { Agent, AgentEnd } from '../../ports.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

let bed: EngineBed;
afterEach(() => bed.close());

describe('a worker that has finished', () => {
  test('is free for the next work within a minute: a task, a proposal, and the task of that proposal', async () => {
    bed = await openLoop({
      loop: { categories: ['testing'] },
      ideas: { testing: proposalDraft('Grease the wheel') },
      deps: (self) => {
        const slow = (agent: Agent) => slowAgent(self, agent, () => 10, 0);
        const [builder, other] = [
          slow(quickAgent(() => self.repository)),
          slow(proposer({ testing: proposalDraft('Grease the wheel') })),
        ];
        return { workers: 1, agentFor: (mode) => (mode === 'propose' ? other : builder) };
      },
    });
    await bed.add(1);
    await bed.pass(32 * MINUTE);
    const started = (await bed.log('run.started')).flatMap(({ at, body }) =>
      body.type === 'run.started' && body.workerId.endsWith('agent-1') ? [{ at, mode: body.mode }] : [],
    );
    expect(started.map(({ mode }) => mode).slice(0, 3)).toEqual(['implement', 'propose', 'implement']);
    const ended = (await bed.log('run.finished')).map(({ at }) => at);
    const idle = [0, 1].map((index) => started[index + 1]!.at - ended[index]!);
    expect(idle.filter((ms) => ms < 0 || ms > MINUTE)).toEqual([]);
  });
});

describe('a claim', () => {
  test('of eight hours ends by itself: the agent is stopped and the task goes back to the queue', async () => {
    const stopped: string[] = [];
    bed = await EngineBed.open({}, (self) => {
      // It shows signs of life for longer than a claim may last.
      const tireless = slowAgent(
        self,
        quickAgent(() => self.repository),
        () => 600,
        0,
      );
      return {
        agentFor: () => ({
          label: 'tireless',
          start(request, sink) {
            const { end } = tireless.start(request, sink);
            const { promise, resolve } = Promise.withResolvers<AgentEnd>();
            const stop = async () => {
              stopped.push(request.runId);
              resolve({ kind: 'failed', failure: 'crash', message: 'stopped', exitCode: null });
            };
            return { end: Promise.race([end, promise]), stop };
          },
        }),
      };
    });
    await bed.start();
    await bed.add(1);
    await bed.pass(LEASE_CAP_MS - MINUTE);
    expect(await bed.store.task('task_1')).toMatchObject({ stage: 'implement', lease: {} });
    await bed.pass(2 * MINUTE);
    expect(stopped).toHaveLength(1);
    // The next worker continues it.
    expect(await bed.store.task('task_1')).toMatchObject({
      ...{ stage: 'implement', blocked: null, lease: { token: 2 } },
      counters: { failures: { time_limit: 1 } },
    });
  });
});

describe('an engine that stops', () => {
  test('asks each agent to end, waits for it, and leaves its task where it was', async () => {
    const heard: string[] = [];
    const ends: (() => void)[] = [];
    const polite: Agent = {
      label: 'polite',
      start({ control, brief }) {
        const { promise, resolve } = Promise.withResolvers<AgentEnd>();
        const number = brief.task!.number;
        const hears = (order: string) => void heard.push(`${order} ${number}`);
        control?.take({
          freeze: () => hears('freeze'),
          thaw: () => hears('thaw'),
          kill: () => hears('kill'),
          usage: async () => ({ memoryMb: 0, cpuMs: 0 }),
        });
        const stop = async () => {
          hears('stop');
          ends.push(() => resolve({ kind: 'failed', failure: 'crash', message: 'stopped', exitCode: null }));
        };
        return { end: promise, stop };
      },
    };
    bed = await EngineBed.open({}, () => ({ agentFor: () => polite }));
    await bed.start();
    await bed.add(1);
    await bed.add(2);
    await bed.pass(SECOND);
    let isStopped = false;
    const stopping = bed.engine.stop({ graceMs: 0 }).then(() => {
      isStopped = true;
    });
    await bed.pass(SECOND);
    expect(heard.toSorted()).toEqual(['stop 1', 'stop 2']);
    expect(isStopped).toBe(false);
    for (const end of ends) end();
    await bed.pass(SECOND);
    await stopping;
    expect(await bed.store.leased(bed.projectId)).toEqual([]);
    expect(await bed.store.task('task_1')).toMatchObject({ stage: 'implement', counters: { failures: {} } });
  });
});
