import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { childEnvironment } from './environment.ts';
import { killLeaked, leakedProcesses, leakScanObstacle, type MarkedProcess } from './leaks.ts';

if (leakScanObstacle) console.log(`skipped: ${leakScanObstacle}`);

describe.skipIf(leakScanObstacle !== null)('leaked processes', () => {
  /** A grandchild that left the group; its parent is gone, and it is what it will be, once this resolves. */
  async function orphan(homeId: string, runId: string): Promise<void> {
    const parent = spawn('sh', ['-c', 'setsid sleep 1000 >/dev/null 2>&1 & sleep 0.1'], {
      detached: true,
      stdio: 'ignore',
      env: childEnvironment(process.env, {}, { homeId, runId }),
    });
    await once(parent, 'exit');
    const isThere = (all: MarkedProcess[]) => all.some((each) => each.runId === runId && each.command === 'sleep 1000');
    while (!isThere(await leakedProcesses(homeId))) await delay(10);
  }

  it('are found by what they inherited, and killed', async () => {
    const homeId = `/nowhere/${randomUUID()}`;
    await orphan(homeId, 'run_a');
    await orphan(homeId, 'run_b');
    const found = await leakedProcesses(homeId);
    expect(found.map(({ runId, command }) => [runId, command]).sort()).toEqual([
      ['run_a', 'sleep 1000'],
      ['run_b', 'sleep 1000'],
    ]);
    for (const { ownerPid } of found) expect(ownerPid).not.toBe(process.pid);

    const killed = await killLeaked(homeId, (runId) => runId === 'run_b');
    expect(killed.map(({ runId }) => runId)).toEqual(['run_a']);
    expect((await leakedProcesses(homeId)).map(({ runId }) => runId)).toEqual(['run_b']);
    await killLeaked(homeId);
    expect(await leakedProcesses(homeId)).toEqual([]);
  });

  it('name the process that still looks after them', async () => {
    const homeId = `/nowhere/${randomUUID()}`;
    const env = childEnvironment(process.env, {}, { homeId, runId: 'run_c' });
    const child = spawn('sleep', ['1000'], { stdio: 'ignore', env });
    await once(child, 'spawn');
    expect(await leakedProcesses(homeId)).toMatchObject([{ pid: child.pid, runId: 'run_c', ownerPid: process.pid }]);
    // A folder whose name merely starts like another's is another folder.
    expect(await leakedProcesses(homeId.slice(0, -1))).toEqual([]);
    await killLeaked(homeId);
  });

  it('never include the one who looks', async () => {
    const homeId = `/nowhere/${randomUUID()}`;
    const script = `import('${new URL('./leaks.ts', import.meta.url)}').then(async (m) => console.log((await m.killLeaked('${homeId}')).length))`;
    const env = childEnvironment(process.env, {}, { homeId, runId: 'run_d' });
    const child = spawn(process.execPath, ['-e', script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const [said] = await once(child.stdout, 'data');
    expect(String(said)).toBe('0\n');
  });
});
