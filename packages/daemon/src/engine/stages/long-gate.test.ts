import { INTEGRITY_GATE } from '@tidemill/contract';
import { LEASE_CAP_MS } from '@tidemill/core';
import { afterEach, describe, expect, it } from 'vitest';
import { EngineBed, quickAgent } from '../../../../../test/support/engine-bed.ts';
import type { GateReport, GateRequest, Gates, RunningCommand } from '../../ports.ts';

const MINUTE = 60_000;
const projectId = 'project_1';

/** Gates whose command is silent for `takesMs`. Its own time limit is `limitMs`, which ends it unless it hangs. */
class LongGates implements Gates {
  readonly names = [INTEGRITY_GATE, 'test'];
  readonly checks = [{ name: 'test', run: 'make release', proves: [], timeout: 120 * MINUTE }];
  runs = 0;
  takesMs = 45 * MINUTE;
  limitMs = 120 * MINUTE;
  doesHang = false;
  outputEveryMs: number | null = null;
  readonly #bed: EngineBed;

  constructor(bed: EngineBed) {
    this.#bed = bed;
  }

  async run({ tree, files, only, signal, watch }: GateRequest): Promise<GateReport[]> {
    // The target itself passes at once.
    const isBaseline = files === null;
    if (!isBaseline) this.runs += 1;
    const running = watch?.begin(this.limitMs);
    const isOver = this.takesMs > this.limitMs && !isBaseline;
    const takesMs = isOver && !this.doesHang ? this.limitMs : this.takesMs;
    if (!isBaseline) await this.#wait(takesMs, signal, running);
    running?.end();
    signal.throwIfAborted();
    return (only ?? this.names).map((gate) => ({
      receipt: {
        gate,
        command: gate,
        tree,
        status: isOver && gate !== INTEGRITY_GATE ? 'fail' : 'pass',
        exitCode: 0,
        durationMs: 1,
        counts: null,
        logHash: '',
        level: '',
        environment: '',
        config: '',
        attempt: 1,
      },
      excerpt: isOver ? 'It exceeded its own time limit.' : '',
      fixed: [],
    }));
  }

  async #wait(ms: number, signal: AbortSignal, running: RunningCommand | undefined): Promise<void> {
    const stepMs = this.outputEveryMs ?? ms;
    for (let left = ms; left > 0 && !signal.aborted; left -= stepMs) {
      await this.#bed.clock.sleep(Math.min(stepMs, left), signal);
      if (this.outputEveryMs !== null) running?.output();
    }
  }
}

let bed: EngineBed;
let gates: LongGates;
afterEach(() => bed.close());

async function start(change: Partial<LongGates> = {}): Promise<void> {
  bed = await EngineBed.open({}, (self) => {
    gates ??= new LongGates(self);
    return { gates, agentFor: () => quickAgent(() => self.repository) };
  });
  gates = Object.assign(new LongGates(bed), change);
  await bed.add(1, { accept: ['it works'] });
  await bed.start();
}
const interruptions = async () =>
  (await bed.log('lease.released')).filter(
    ({ body }) => body.type === 'lease.released' && /sign of life/.test(body.why),
  );

describe('a gate that is silent for long', { timeout: 60_000 }, () => {
  it('within its own time limit of 2 h, silent for 45 minutes, finishes and lands', async () => {
    await start();
    await bed.pass(150 * MINUTE);
    expect(await bed.store.task('task_1')).toMatchObject({ stage: 'done' });
    expect(await bed.decided()).toEqual([]);
    expect(await bed.store.records({ noun: 'question', projectId })).toEqual([]);
    expect(await interruptions()).toEqual([]);
    expect(gates.runs).toBe(1);
  });

  it('beyond its own time limit is ended by that limit, and its task gets the reason', async () => {
    await start({ takesMs: 90 * MINUTE, limitMs: 60 * MINUTE });
    await bed.pass(125 * MINUTE);
    const [sentBack] = await bed.log('run.sent_back');
    expect(sentBack?.body).toMatchObject({ type: 'run.sent_back', gates: ['test'] });
    expect(await interruptions()).toEqual([]);
  });

  it('that its limit does not end is stuck from then on, and is interrupted half an hour later', async () => {
    await start({ takesMs: LEASE_CAP_MS, limitMs: 60 * MINUTE, doesHang: true });
    await bed.pass(74 * MINUTE);
    expect(await bed.decided()).toEqual([]);
    await bed.pass(18 * MINUTE);
    expect(await bed.decided()).toEqual(['watch #1', 'ask #1', 'interrupt #1']);
  });

  it('that prints something is alive, whatever its limit says', async () => {
    await start({ takesMs: 100 * MINUTE, limitMs: 1 * MINUTE, doesHang: true, outputEveryMs: 5 * MINUTE });
    await bed.pass(95 * MINUTE);
    expect(await bed.decided()).toEqual([]);
  });

  it('keeps its lease by heartbeats, and no longer than the cap of 8 hours', async () => {
    await start({ takesMs: 20 * 60 * MINUTE, limitMs: 20 * 60 * MINUTE });
    await bed.pass(LEASE_CAP_MS - 10 * MINUTE);
    expect((await bed.store.task('task_1'))?.lease?.token).toBe(1);
    await bed.pass(15 * MINUTE);
    expect((await bed.store.runs('task_1'))[0]?.outcome).toBe('interrupted');
  });
});
