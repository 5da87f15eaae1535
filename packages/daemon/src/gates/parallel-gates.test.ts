import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { GateConfig } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import type { ControlledProcess, GateRequest } from '../ports.ts';
import { leakedProcesses } from '../process/leaks.ts';
import { groupsOf, sideBySide, wanted } from './gate-order.ts';
import { createGates } from './gates.ts';

let base: string;
let folder: string;
const logDir = () => path.join(base, 'data', 'logs');

beforeEach(async () => {
  base = await mkdtemp('/tmp/tidemill-parallel-');
  folder = path.join(base, 'data', 'worktrees', '1');
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'a.txt'), 'text\n');
});
afterEach(async () => {
  expect(await leakedProcesses(path.join(base, 'data'))).toEqual([]);
  expect((await readdir(logDir()).catch(() => [])).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  await rm(base, { recursive: true, force: true });
});

const gate = (name: string, run: string, more: object = { parallel: true }) => GateConfig.parse({ name, run, ...more });
const made = (config: GateConfig[]) => {
  const dataDir = path.join(base, 'data');
  return createGates({ config, logDir: logDir(), host: { root: base, dataDir, homeId: dataDir, sandbox: 'off' } });
};
const mark = (name: string) => path.join(folder, name);
/** `made.txt` does not belong to the tree. */
const checks = {
  resets: 0,
  changes: async () => (existsSync(mark('made.txt')) ? ['made.txt'] : []),
  async reset() {
    checks.resets += 1;
    await rm(mark('made.txt'), { force: true });
  },
};
const request = (more: Partial<GateRequest> = {}): GateRequest => ({
  path: folder,
  tree: 'tree1',
  files: null,
  signal: new AbortController().signal,
  ...more,
});
const run = async (config: GateConfig[], more: Partial<GateRequest> = {}) =>
  (await made(config).run(request(more))).map(({ receipt }) => `${receipt.gate} ${receipt.status}`);
/** Ends when the other has begun too. */
const meet = (own: string, other: string) =>
  `touch ${own}.mark; n=0; while [ ! -f ${other}.mark ]; do n=$((n+1)); [ $n -gt 1000 ] && exit 1; sleep 0.02; done`;

describe('gates with `parallel`', () => {
  it('run side by side, and their receipts keep the order of the config', async (context) => {
    context.skip(availableParallelism() < 2, 'this machine has one core');
    expect(await run([gate('a', `${meet('a', 'b')}; sleep 0.1`), gate('b', meet('b', 'a'))])).toEqual([
      'a pass',
      'b pass',
    ]);
  });

  it('run one after another on the second attempt', async () => {
    const config = [gate('a', 'sleep 0.1; ! ls *.mark; touch a.mark'), gate('b', 'ls a.mark')];
    expect(await run(config, { only: ['a', 'b'], again: ['a', 'b'] })).toEqual(['a pass', 'b pass']);
  });

  it('that change files are found: the whole group runs again, one after another', async () => {
    checks.resets = 0;
    const config = [gate('reader', 'sleep 0.1; cat a.txt'), gate('writer', 'echo x > made.txt'), gate('last', 'true')];
    const reports = await made(config).run(request(checks));
    expect(reports.map(({ receipt }) => `${receipt.gate} ${receipt.status} ${receipt.attempt}`)).toEqual([
      'reader pass 1',
      'writer fail 1',
      'last pass 1',
    ]);
    expect(reports[1]?.excerpt).toContain('changed files, and a gate must leave them as they are: made.txt');
    expect(checks.resets).toBe(2);
  });

  it('are all killed when the work is stopped', async () => {
    const stop = new AbortController();
    const running = made([gate('a', 'touch a.mark; sleep 600'), gate('b', 'touch b.mark; sleep 600')]);
    const ended = running.run(request({ signal: stop.signal }));
    await until(() => existsSync(mark('a.mark')));
    stop.abort(new Error('enough'));
    await expect(ended).rejects.toThrow('enough');
  });

  it('are all frozen and thawed together', async (context) => {
    context.skip(availableParallelism() < 2, 'this machine has one core');
    const parts = new Set<ControlledProcess>();
    const control = {
      take(part: ControlledProcess) {
        parts.add(part);
        return () => void parts.delete(part);
      },
    };
    const ended = run([gate('a', meet('a', 'go')), gate('b', meet('b', 'go'))], { control });
    await until(() => existsSync(mark('a.mark')) && existsSync(mark('b.mark')));
    expect(parts.size).toBe(2);
    for (const part of parts) part.freeze();
    await writeFile(mark('go.mark'), '');
    for (const part of parts) part.thaw();
    expect(await ended).toEqual(['a pass', 'b pass']);
  });

  it('tell the supervisor their time limit, their output and their end', async () => {
    const seen: string[] = [];
    const watch = {
      begin(limitMs: number) {
        seen.push(`begin ${limitMs}`);
        return { output: () => void seen.push('output'), end: () => void seen.push('end') };
      },
    };
    await run([gate('a', 'echo hello', { timeout: '2h' })], { watch });
    expect(seen).toEqual(['begin 7200000', 'output', 'end']);
  });
});

it('a gate that changed files is blamed alone, also without `parallel`', async () => {
  const config = [gate('writer', 'echo x > made.txt', {}), gate('reader', 'true', {})];
  expect(await run(config, checks)).toEqual(['writer fail', 'reader pass']);
});

describe('the order of gates', () => {
  const names = (gates: GateConfig[][]) => gates.map((group) => group.map(({ name }) => name).join(' '));
  it('only neighbours that may run side by side form a group', () => {
    const alone = gate('c', 'x', {});
    expect(names(groupsOf([gate('a', 'x'), gate('b', 'x'), alone, gate('d', 'x')]))).toEqual(['a b', 'c', 'd']);
  });

  it('long gates, and those that need them, can be left out', () => {
    const long = gate('long', 'x', { level: 'release' });
    const config = [gate('a', 'x', { needs: ['long'] }), long, gate('b', 'x')];
    expect(wanted(config, { maxMs: 600_000 }).map(({ name }) => name)).toEqual(['b']);
    expect(wanted(config, {}).map(({ name }) => name)).toEqual(['long', 'a', 'b']);
  });

  it('a gate of a group starts after those it needs, never more than the limit at once', async () => {
    const log: string[] = [];
    let busy = 0;
    const group = [
      gate('a', 'x'),
      gate('b', 'x', { parallel: true, needs: ['a'] }),
      gate('c', 'x'),
      gate('d', 'x', { parallel: true, needs: ['fails'] }),
      gate('fails', 'x'),
      gate('e', 'x', { parallel: true, needs: ['before'] }),
    ].toSorted((one, other) => Number(one.name === 'd') - Number(other.name === 'd'));
    const settled = await sideBySide(group, 2, new Set(['before']), async ({ name }) => {
      busy += 1;
      log.push(`${name} with ${busy}`);
      await new Promise((resolve) => setImmediate(resolve));
      busy -= 1;
      return { name, ended: { kind: 'exited', exitCode: name === 'fails' ? 1 : 0 } };
    });
    expect(log.map((line) => line.split(' ')[0])).toEqual(['a', 'c', 'fails', 'e', 'b']);
    expect(log.every((line) => !line.endsWith('3'))).toBe(true);
    const results = settled.map((result) =>
      result.status === 'fulfilled' ? (result.value?.name ?? null) : 'rejected',
    );
    expect(results).toEqual(['a', 'b', 'c', 'fails', 'e', null]);
  });
});
