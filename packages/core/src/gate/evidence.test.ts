import type { Evidence } from '@tidemill/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { digest } from '../../../../test/support/command-world.ts';
import { Mill, receipt } from '../../../../test/support/mill.ts';
import { Slice } from '../slice.ts';
import { CHAIN_START, chainFaults, evidenceHash, hasPassed } from './evidence.ts';

const START = { prev: CHAIN_START, position: 0 };

function recorded(): { mill: Mill; links: Evidence[] } {
  const mill = new Mill({ defaultPipeline: 'quick' });
  const [a, b] = [mill.add(), mill.add()];
  mill.bring(a, 'done');
  mill.bring(b, 'done');
  return { mill, links: [...mill.evidence.values()] };
}

describe('the chain of evidence', () => {
  test('links follow each other over tasks, and the project knows its head', () => {
    const { mill, links } = recorded();
    expect(links.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(links[0]?.prev).toBe(CHAIN_START);
    for (const [index, link] of links.slice(1).entries()) expect(link.prev).toBe(links[index]?.hash);
    expect(mill.projects.get(mill.projectId)?.evidence).toEqual({ head: links.at(-1)?.hash, count: 8 });
    expect(chainFaults(links, START, digest)).toEqual([]);
  });

  test('a receipt with findings keeps the hash that earlier versions gave it', () => {
    const [link] = recorded().links;
    const { hash: _, ...bare } = link!;
    const counts = { low: 0, moderate: 0, high: 0, critical: 0 };
    const figures = { counts, known: 0, percent: null, threshold: null, findings: [], missing: [] };
    const scan = { kind: 'scan' as const, summary: 'nothing', ...figures };
    const hashed = evidenceHash({ ...bare, scan }, (text) => text);
    expect(JSON.parse(hashed).slice(-2)).toEqual(['block', scan]);
  });

  test('a part of it can be checked alone', () => {
    const { links } = recorded();
    const { hash: prev, position } = links[3]!;
    expect(chainFaults(links.slice(4), { prev, position }, digest)).toEqual([]);
    expect(chainFaults([], START, digest)).toEqual([]);
  });

  test('a change of any field of any link is found', () => {
    const { links } = recorded();
    const fields = Object.keys(links[0]!) as (keyof Evidence)[];
    const other: Record<string, unknown> = {
      ...{ status: 'fail', exitCode: null, counts: { passed: 1, failed: 0, skipped: 0 } },
      position: 99,
      durationMs: 6,
      at: 7,
    };
    fc.assert(
      fc.property(fc.nat(links.length - 1), fc.constantFrom(...fields), (index, field) => {
        const forged = links.map((link, at) => (at === index ? { ...link, [field]: other[field] ?? 'forged' } : link));
        expect(chainFaults(forged, START, digest)).not.toEqual([]);
      }),
    );
  });

  test('a forged link with a corrected hash is found by the next link', () => {
    const { links } = recorded();
    const changed = { ...links[2]!, status: 'fail' as const };
    const forged = links.with(2, { ...changed, hash: evidenceHash(changed, digest) });
    expect(chainFaults(forged, START, digest)).toEqual(['link 4 does not follow the previous link']);
  });

  test('a missing, duplicate or moved link is found', () => {
    const { links } = recorded();
    const [first, second, ...rest] = links as [Evidence, Evidence, ...Evidence[]];
    expect(chainFaults([first, ...rest], START, digest)).not.toEqual([]);
    expect(chainFaults([first, first, second, ...rest], START, digest)).not.toEqual([]);
    expect(chainFaults([second, first, ...rest], START, digest)).not.toEqual([]);
    expect(chainFaults(links.slice(1), START, digest)).not.toEqual([]);
  });
});

describe('the proof of a tree', () => {
  const { mill, links } = recorded();
  const passed = (tree: string, gates: string[]) =>
    hasPassed(mill.loadAll(), mill.projects.get(mill.projectId)!, tree, { gates, own: [] });

  test('every gate must have passed for exactly that tree', () => {
    const { tree } = links[0]!;
    expect(passed(tree, ['integrity', 'test'])).toBe(true);
    expect(passed(tree, ['integrity', 'test', 'lint'])).toBe(false);
    expect(passed('another tree', ['test'])).toBe(false);
    expect(
      hasPassed(mill.loadAll(), { ...mill.projects.get(mill.projectId)!, id: 'project_9' }, tree, {
        gates: ['test'],
        own: [],
      }),
    ).toBe(false);
  });

  test('the newest receipt of a gate decides, whatever order they are loaded in', () => {
    const id = mill.add();
    const { fence } = mill.startRun(id);
    const record = (...statuses: ('pass' | 'fail' | 'unverified')[]) =>
      mill.must({
        type: 'evidence.record',
        ...fence,
        receipts: statuses.map((status) => receipt('test', 'T', status)),
      });
    record('pass', 'fail');
    expect(passed('T', ['test'])).toBe(false);
    record('pass');
    expect(passed('T', ['test'])).toBe(true);
    record('unverified');
    expect(passed('T', ['test'])).toBe(false);
    record('fail', 'pass');
    const backwards = new Slice();
    backwards.load({ find: 'evidenceFor', by: [mill.projectId, 'T'] }, [...mill.evidence.values()].reverse());
    expect(hasPassed(backwards, mill.projects.get(mill.projectId)!, 'T', { gates: ['test'], own: [] })).toBe(true);
  });

  test('a receipt made under other settings of its gate proves nothing', () => {
    const fresh = new Mill();
    const project = fresh.projects.get(fresh.projectId)!;
    const under = (config: string) => ({ ...project, rules: { ...project.rules, gateConfigs: { test: config } } });
    const { fence } = fresh.startRun(fresh.add());
    const receipts = [{ ...receipt('test', 'T', 'pass'), config: 'a'.repeat(64) }];
    fresh.must({ type: 'evidence.record', ...fence, receipts });
    expect(hasPassed(fresh.loadAll(), under('a'.repeat(64)), 'T', { gates: ['test'], own: [] })).toBe(true);
    expect(hasPassed(fresh.loadAll(), under('b'.repeat(64)), 'T', { gates: ['test'], own: [] })).toBe(false);
  });
});
