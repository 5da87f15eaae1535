import type { EventBody } from '@tidemill/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { replay, rowsOf } from '../../../../test/support/command-world.ts';
import { Mill } from '../../../../test/support/mill.ts';
import { commandOf, dice } from '../../../../test/support/wild-command.ts';
import type { Command } from '../command.ts';
import { SUPERSEDING, SupersededEvents } from './superseded.ts';

/** A report of progress has only what changed. */
const varied = (command: Command, i: number): Command =>
  command.type !== 'run.progress'
    ? command
    : {
        ...command,
        percent: i % 5 === 0 ? null : i,
        ...(i % 3 === 1 && { turns: { used: i, limit: 99 } }),
        ...(i % 4 === 1 && { tools: { used: i, current: null } }),
        ...(i % 7 === 2 && { todo: [{ text: `${i}`, status: 'done' as const }] }),
      };

/** The log without what later events superseded; `isOld` decides which of those are old enough. */
function thinned<E extends { body: EventBody }>(log: readonly E[], isOld: (index: number) => boolean): E[] {
  const superseded = new SupersededEvents();
  return log
    .map((event, index) => ({ event, index }))
    .reverse()
    .filter(({ event, index }) => !(superseded.isSuperseded(event.body) && isOld(index)))
    .map(({ event }) => event)
    .reverse();
}

test('a replay without superseded events gives the same rows, after any sequence of commands', {
  timeout: 120_000,
}, () => {
  const removed = new Map<string, number>();
  fc.assert(
    fc.property(fc.array(dice, { minLength: 50, maxLength: 200, size: 'max' }), fc.nat(), (throws, share) => {
      const mill = new Mill();
      for (const each of throws) {
        const command = commandOf(mill, each);
        mill.now += command ? 10 : each.a * 10_000;
        if (!command) continue;
        // Heartbeats and progress come in long series.
        const times = /^(worker\.beat|lease\.renew|run\.progress)$/.test(command.type) ? 1 + (each.a % 25) : 1;
        for (let i = 0; i < times; i += 1) mill.execute(varied(command, i));
      }
      const kept = thinned(mill.log, (index) => (index * 7919 + share) % 3 > 0);
      const again = replay(kept);
      for (const [noun, rows] of Object.entries(rowsOf(mill))) expect(new Set(again[noun])).toEqual(new Set(rows));
      const left = new Set(kept);
      for (const event of mill.log)
        if (!left.has(event)) removed.set(event.body.type, (removed.get(event.body.type) ?? 0) + 1);
    }),
    { numRuns: 60 },
  );
  // Otherwise the sequences test too little.
  expect([...removed.keys()].sort()).toEqual(['lease.renewed', 'run.progressed', 'worker.beat']);
  for (const type of removed.keys()) expect(SUPERSEDING).toContain(type);
});
