import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeProject, processorSeconds, startDaemon, startProgram, TICKS_PER_SECOND } from './daemon-process.ts';
import { type BenchOptions, sized } from './options.ts';
import { row, type Section } from './row.ts';
import { inTemporaryFolder } from './temporary.ts';

/** The daemon with three workers and nothing to do, beside an HTTP server that never had anything to do. */
export async function run(options: BenchOptions): Promise<Section> {
  if (process.platform !== 'linux') throw new Error('idle figures are read from /proc, which only Linux has');
  return inTemporaryFolder(async (folder) => {
    const root = join(folder, 'repository');
    await makeProject(root);
    const daemon = await startDaemon(root, join(folder, 'home'));
    const bare = await startProgram([join(import.meta.dirname, 'bare-server.ts')], folder);
    try {
      const seconds = sized(options, 30, 3);
      // What starting left to do (compiling, collecting) is not idling; V8 tidies its heap once, about eight seconds after.
      await delay(sized(options, 12_000, 2_000));
      const before = [await usageOf(daemon.pid), await usageOf(bare.pid)] as const;
      await delay(seconds * 1000);
      const after = [await usageOf(daemon.pid), await usageOf(bare.pid)] as const;
      const share = (index: 0 | 1) => ((after[index].cpu - before[index].cpu) / seconds) * 100;
      const peer = 'a bare node:http server';
      return {
        name: 'idle',
        title: `Idle with three workers, over ${seconds} s`,
        rows: [
          row({
            name: 'resident memory, children included',
            value: after[0].memory,
            unit: 'MB',
            peer: { name: peer, value: after[1].memory },
            target: { atMost: 110 },
          }),
          row({
            name: 'processor time',
            value: share(0),
            unit: '%',
            // A server that idles to the clock's last digit counts as one tick, or the ratio would be infinite.
            peer: { name: `${peer} (at least one tick)`, value: Math.max(share(1), 100 / TICKS_PER_SECOND / seconds) },
            target: { atMost: 0.2 },
          }),
        ],
        notes: ['100 % is one core. Read from /proc; children are the git process that stays to answer questions.'],
      };
    } finally {
      await bare.stop();
      await daemon.stop();
    }
  });
}

interface Usage {
  /** Seconds of processor time since its start. */
  cpu: number;
  /** MB in memory. */
  memory: number;
}

/** A process and its descendants. */
async function usageOf(pid: number): Promise<Usage> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const own: Usage = {
    cpu: await processorSeconds(pid),
    memory: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024,
  };
  for (const child of await childrenOf(pid)) {
    const { cpu, memory } = await usageOf(child);
    own.cpu += cpu;
    own.memory += memory;
  }
  return own;
}

async function childrenOf(pid: number): Promise<number[]> {
  const children: number[] = [];
  for (const thread of await readdir(`/proc/${pid}/task`)) {
    const text = await readFile(`/proc/${pid}/task/${thread}/children`, 'utf8');
    children.push(...text.trim().split(' ').filter(Boolean).map(Number));
  }
  return children;
}
