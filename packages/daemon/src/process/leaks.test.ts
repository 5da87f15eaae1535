import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { startChild } from './child.ts';
import { childEnvironment } from './environment.ts';
import { killLeaked, leakedProcesses, leakScanObstacle, type MarkedProcess } from './leaks.ts';
import { markedRun, withMark } from './limit-mark.ts';
import { processRow } from './process-table.ts';

describe('leaked processes', () => {
  beforeEach(({ skip }) => skip(leakScanObstacle !== null, leakScanObstacle ?? ''));
  /** A grandchild that left the group. When this resolves, its parent is gone and its program runs. */
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

  it('are found by their inherited environment, and killed', async () => {
    const homeId = `/nowhere/${randomUUID()}`;
    await orphan(homeId, 'run_a');
    await orphan(homeId, 'run_b');
    const found = await leakedProcesses(homeId);
    expect(found.map(({ runId, command }) => [runId, command]).sort()).toEqual([
      ['run_a', 'sleep 1000'],
      ['run_b', 'sleep 1000'],
    ]);
    for (const { ownerPid } of found) expect(ownerPid).not.toBe(process.pid);

    const killed = await killLeaked(homeId, ({ runId }) => runId === 'run_b');
    expect(killed.map(({ runId }) => runId)).toEqual(['run_a']);
    expect((await leakedProcesses(homeId)).map(({ runId }) => runId)).toEqual(['run_b']);
    await killLeaked(homeId);
    expect(await leakedProcesses(homeId)).toEqual([]);
  });

  it('are only those that still run when all were read', async () => {
    const homeId = `/nowhere/${randomUUID()}`;
    const env = childEnvironment(process.env, {}, { homeId, runId: 'run_brief' });
    // New ones start all the time, and each ends while a scan goes on.
    const loop = spawn('sh', ['-c', 'while :; do sleep 0.005; done'], { stdio: 'ignore', env });
    await once(loop, 'spawn');
    const commands = new Set<string>();
    for (let scan = 0; scan < 40; scan++)
      for (const { command } of await leakedProcesses(homeId)) commands.add(command);
    await killLeaked(homeId);
    expect(commands.has('')).toBe(false);
  });

  it('name the process that still owns them', async () => {
    const homeId = `/nowhere/${randomUUID()}`;
    const env = childEnvironment(process.env, {}, { homeId, runId: 'run_c' });
    const child = spawn('sleep', ['1000'], { stdio: 'ignore', env });
    await once(child, 'spawn');
    expect(await leakedProcesses(homeId)).toMatchObject([{ pid: child.pid, runId: 'run_c', ownerPid: process.pid }]);
    // A folder with the same prefix is another folder.
    expect(await leakedProcesses(homeId.slice(0, -1))).toEqual([]);
    await killLeaked(homeId);
  });

  it.for([
    ['of a command', "setsid env -i sh -c 'while :; do date >> grown; sleep 0.02; done' >/dev/null 2>&1 &"],
    [
      'twice removed',
      '(setsid sh -c \'(exec env -i setsid sh -c "while :; do date >> grown; sleep 0.02; done") &\' &)',
    ],
  ])('that left the group, the session and their environment end with the run: %s', async ([, script = '']) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'tidemill-leaks-'));
    const homeId = `/nowhere/${randomUUID()}`;
    const { end } = startChild({
      host: { root: folder, dataDir: folder, homeId, sandbox: 'off' },
      runId: 'run_e',
      // It ends when the stray process works and was seen.
      command: ['sh', '-c', `${script}\nuntil [ -s grown ] && [ -e seen ]; do sleep 0.02; done`],
      cwd: folder,
      network: false,
      timeoutMs: 50_000,
      onOutput: () => undefined,
    });
    const seen = new Set<number>();
    let isOver = false;
    void end.then(() => {
      isOver = true;
    });
    while (!isOver) {
      for (const { pid } of await leakedProcesses(homeId)) seen.add(pid);
      if (seen.size > 1) await writeFile(path.join(folder, 'seen'), '');
      await delay(10);
    }
    expect(await end).toMatchObject({ kind: 'exited', exitCode: 0 });
    expect(seen.size).toBeGreaterThan(1);
    expect([...seen].filter((pid) => processRow(pid)?.isZombie === false)).toEqual([]);
    const grown = await readFile(path.join(folder, 'grown'), 'utf8');
    await delay(100); // about five times the write interval of a live process
    expect(await readFile(path.join(folder, 'grown'), 'utf8')).toBe(grown);
    await rm(folder, { recursive: true, force: true });
  });

  it('never include the scanning process', async () => {
    const homeId = `/nowhere/${randomUUID()}`;
    const script = `import('${new URL('./leaks.ts', import.meta.url)}').then(async (m) => console.log((await m.killLeaked('${homeId}')).length))`;
    const env = childEnvironment(process.env, {}, { homeId, runId: 'run_d' });
    const child = spawn(process.execPath, ['-e', script], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    const [said] = await once(child.stdout, 'data');
    expect(String(said)).toBe('0\n');
  });

  it.for([
    { by: 'its own variables', start: '', hasLimit: false, expected: 'run_f' },
    { by: 'the variables of an ancestor', start: 'env -i ', hasLimit: false, expected: 'run_f' },
    {
      by: 'its limit, also when it has left its ancestors',
      start: 'exec env -i setsid ',
      hasLimit: true,
      expected: markedRun('run_f'),
    },
  ])('know the run they are of by $by', async ({ start, hasLimit, expected }) => {
    const marker = { homeId: `/nowhere/${randomUUID()}`, runId: 'run_f' };
    const env = childEnvironment(process.env, {}, marker);
    const ask = async (homeId: string) => {
      const code = `import('${new URL('./leaks.ts', import.meta.url)}').then((m) => console.log(String(m.ownRun('${homeId}'))))`;
      const plain = ['sh', '-c', `${start}"$0" -e "$1"; true`, process.execPath, code];
      const [file = '', ...args] = hasLimit ? withMark(plain, marker) : plain;
      return (await promisify(execFile)(file, args, { env })).stdout.trim();
    };
    expect(await ask(marker.homeId)).toBe(expected);
    expect(await ask(`${marker.homeId}x`)).toBe('null');
  });
});
