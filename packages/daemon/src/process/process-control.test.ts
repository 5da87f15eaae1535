import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WorkControl } from '../engine/workers/work-control.ts';
import { type Child, type ChildSpec, startChild } from './child.ts';
import { leakedProcesses } from './leaks.ts';
import { hasProcessTable, processFile } from './process-table.ts';
import { sandboxStatus } from './sandbox.ts';

let base: string;
let control: WorkControl;

beforeEach(async () => {
  base = await mkdtemp(path.join(tmpdir(), 'tidemill-control-'));
  control = new WorkControl({ now: () => performance.now() });
});
afterEach(() => rm(base, { recursive: true, force: true }));

function start(script: string, more: Partial<ChildSpec> = {}): Child & { says(text: string): Promise<void> } {
  let output = '';
  const waiting = new Set<() => void>();
  const child = startChild({
    host: { root: base, dataDir: path.join(base, 'data'), homeId: base, sandbox: 'off' },
    runId: `run_${crypto.randomUUID()}`,
    command: ['sh', '-c', script],
    cwd: base,
    network: false,
    timeoutMs: 60_000,
    control,
    onOutput(chunk) {
      output += chunk.toString();
      for (const look of waiting) look();
    },
    ...more,
  });
  const says = (text: string) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!output.includes(text)) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return { ...child, says };
}

/** The states of all processes of this test, such as `S` and `T`. */
async function states(): Promise<string[]> {
  const found = await leakedProcesses(base);
  return found.flatMap(({ pid }) => {
    const stat = processFile(pid, 'stat')?.toString('latin1');
    return stat === undefined ? [] : [stat.slice(stat.lastIndexOf(')') + 2)[0]!];
  });
}

async function until(isSo: (all: string[]) => boolean): Promise<string[]> {
  for (;;) {
    const all = await states();
    if (isSo(all)) return all;
    await delay(10);
  }
}

/** A shell that is starting a child cannot react to signals (`D`). */
const standStill = (all: string[]) => all.includes('T') && all.every((state) => state === 'T' || state === 'D');

/** How long this process could have run and was not let: other work on the machine, which is not counted. */
function waitedForCoreMs(): number {
  const [, waitedNs] = (processFile(process.pid, 'schedstat')?.toString() ?? '').split(' ');
  return Number(waitedNs ?? 0) / 1e6;
}

describe('a child under control', () => {
  beforeEach(({ skip }) => skip(!hasProcessTable, 'there is no /proc here'));
  test.for(['off', 'auto'] as const)(
    'stands still with its family and goes on, sandbox %s',
    async (sandbox, context) => {
      const { available, why } = await sandboxStatus();
      context.skip(sandbox === 'auto' && !available, why);
      const host = { root: base, dataDir: path.join(base, 'data'), homeId: base, sandbox };
      // One process leaves the group, like a daemon.
      const script = 'setsid sleep 60 & echo begun; read go; echo "went $go"';
      let input!: NodeJS.WritableStream;
      const takeInput = (stream: NodeJS.WritableStream) => {
        input = stream;
      };
      const child = start(script, { host, stdin: takeInput });
      await child.says('begun');
      await until((all) => all.length >= 2);
      control.freeze();
      await until(standStill);
      input.write('on\n');
      control.thaw();
      await child.says('went on');
      expect(await child.end).toMatchObject({ kind: 'exited', exitCode: 0 });
      expect(await states()).toEqual([]);
    },
  );

  test('suspended time does not count', async () => {
    const child = start('echo begun; read go; exit 7', { timeoutMs: 4_000, stdin: () => undefined });
    await child.says('begun');
    control.freeze();
    await until(standStill);
    await delay(4_500); // longer than the time limit
    expect(await states()).toContain('T');
    control.thaw();
    expect(await child.end).toEqual({ kind: 'timeout' });
    expect(control.frozenMs).toBeGreaterThan(4_400);
  });

  test('a child that starts while frozen waits until thaw', async () => {
    control.freeze();
    const child = start('echo begun');
    await delay(100); // it would have started by now
    expect(await states()).toEqual([]);
    control.thaw();
    await child.says('begun');
    expect(await child.end).toMatchObject({ kind: 'exited', exitCode: 0 });
    control.freeze();
    const other = start('echo begun');
    await other.stop();
    expect(await other.end).toEqual({ kind: 'stopped' });
  });

  test('a suspended child can be stopped', async () => {
    const child = start('trap "echo heard; exit 0" TERM; echo begun; while :; do sleep 0.05; done');
    await child.says('begun');
    control.freeze();
    await until(standStill);
    await child.stop();
    await child.says('heard');
    expect(await child.end).toEqual({ kind: 'stopped' });
  });

  test('ten children that ignore SIGTERM, some suspended, are killed by one call', async () => {
    const children = Array.from({ length: 10 }, () =>
      start('trap "" TERM; setsid sleep 60 & echo begun; while :; do sleep 1; done'),
    );
    await Promise.all(children.map((child) => child.says('begun')));
    control.freeze();
    await until(standStill);
    const before = performance.now() - waitedForCoreMs();
    control.kill();
    const ends = await Promise.all(children.map(({ end }) => end));
    const tookMs = performance.now() - waitedForCoreMs() - before;
    expect(ends).toEqual(Array(10).fill({ kind: 'stopped' }));
    expect(await states()).toEqual([]);
    // The documented limit, not a measurement of this machine.
    expect(tookMs).toBeLessThan(5_000);
  });

  test('a child that starts after the kill is killed too', async () => {
    control.kill();
    const child = start('echo "$$" > survived; sleep 60');
    expect(await child.end).toEqual({ kind: 'stopped' });
    await expect(readFile(path.join(base, 'survived'))).rejects.toThrow('ENOENT');
  });

  test('reports the resource use of its processes', async () => {
    const child = start('echo begun; while :; do :; done');
    await child.says('begun');
    await control.use();
    for (;;) {
      await delay(50);
      const { memoryMb, cpuPercent } = await control.use();
      if (memoryMb > 0 && cpuPercent > 0) break;
    }
    await child.stop();
    expect(await control.use()).toEqual({ memoryMb: 0, cpuPercent: 0 });
  });
});

test('a reader that fails while its child still writes is reported at the end and kills no process', async () => {
  const child = start('echo one; sleep 0.3; echo two; echo whole > ended', {
    onOutput: () => Promise.reject(new Error('no space left')),
  });
  await expect(child.end).rejects.toThrow('no space left');
  expect(await readFile(path.join(base, 'ended'), 'utf8')).toBe('whole\n');
});
