import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { personActor } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { compareLogWithProjection } from '../../packages/daemon/src/store/compare.ts';
import { type Mill, newTrace, open, type Place, PROJECT, sharedPlaces } from './store-bed.ts';

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const LANES = 32;

/** How often each race is run. */
export interface Counts {
  /** Tasks that two processes race for. */
  tasks: { sqlite: number; postgres: number };
  /** Claims of each worker by several processes at once. */
  claims: number;
  /** Writes of each of three processes, ten at a time, while another one reads. */
  writes: number;
  /** Groups of ten tasks that finish while others come to depend on them. */
  dependencies: number;
  /** A writing process is killed after each of these numbers of writes. */
  kills: number[];
}

export function severalProcesses({ tasks, claims, writes, dependencies, kills }: Counts): void {
  describe.each(Object.entries(sharedPlaces(inject('postgresUrl') ?? '')))(
    'several processes on %s',
    (name, makePlace) => {
      let place: Place;
      let mill: Mill;
      beforeEach(async () => {
        place = await makePlace();
        mill = await (await open(place)).register(LANES);
      });
      afterEach(async () => {
        await mill.store.close();
        await place.remove();
      });

      test('two processes drain one queue: each task has exactly one holder', { timeout: 300_000 }, async () => {
        const count = tasks[name as keyof typeof tasks];
        for (let left = count; left > 0; left -= 1000) {
          await Promise.all(Array.from({ length: Math.min(left, 1000) }, () => mill.create()));
        }
        const claimers = [1, 2].map(() => startClaimer(place));
        for (const claimer of claimers) await claimer.ready;
        for (const claimer of claimers) claimer.go();
        const leased = await Promise.all(claimers.map((claimer) => claimer.leased));
        // On SQLite the process that has the file's lock may well keep it to the end.
        if (name === 'postgres') expect(leased.every((ids) => ids.length > 0)).toBe(true);
        expect(leased.flat()).toHaveLength(count);
        expect(new Set(leased.flat()).size).toBe(count);
        await expectExclusiveLeases(mill);
        expect(await mill.store.workload(PROJECT)).toMatchObject({ leased: 0, ready: 0, byStage: { done: count } });
      });

      test('of two claims for one worker exactly one wins', { timeout: 300_000 }, async () => {
        const other = await open(place);
        await Promise.all(Array.from({ length: LANES * claims }, () => mill.create()));
        let won = 0;
        await Promise.all(
          Array.from({ length: LANES }, async (_, lane) => {
            for (let round = 0; round < claims; round++) {
              const replies = await Promise.all([mill, other, mill].map((each) => each.claim(`w${lane + 1}`, 128)));
              const winners = replies.filter((reply) => reply.ok);
              expect(winners.length).toBeLessThanOrEqual(1);
              won += winners.length;
              for (const reply of winners) await mill.finish(reply.task!);
            }
          }),
        );
        expect(won).toBeGreaterThan((LANES * claims) / 2);
        await expectExclusiveLeases(mill);
        await other.store.close();
      });

      test('a subscriber misses nothing that other processes write, and repeats nothing', async () => {
        const others = await Promise.all([open(place), open(place)]);
        const stop = new AbortController();
        const start = await mill.store.lastSeq();
        const seen: number[] = [];
        const following = (async () => {
          for await (const event of mill.store.subscribe(start, {}, stop.signal)) {
            seen.push(event.seq);
            if (seen.length === 3 * writes) stop.abort();
          }
        })();
        for (let round = 0; round < writes / 10; round++) {
          await Promise.all([mill, ...others].flatMap((each) => Array.from({ length: 10 }, () => each.create())));
        }
        await following;
        expect(seen).toEqual(Array.from({ length: 3 * writes }, (_, index) => start + 1 + index));
        for (const other of others) await other.store.close();
      });

      test('a record that two processes create at the same time has what both of them added', {
        timeout: 300_000,
      }, async () => {
        const other = await open(place);
        for (let round = 0; round < 3 * dependencies; round++)
          await Promise.all(
            [mill, other].flatMap((each, process) =>
              [0, 1, 2].map((key) => each.must(newTrace(`${round}-${key}-${process}`, `key-${round}-${key}`))),
            ),
          );
        expect(await compareLogWithProjection(mill.store)).toEqual([]);
        for (const { count, traceIds } of await mill.store.records({ noun: 'pattern', projectId: PROJECT }))
          expect([count, traceIds.length]).toEqual([2, 2]);
        await other.store.close();
      });

      test('tasks that are created while their dependency finishes are all freed', {
        timeout: 300_000,
      }, async () => {
        const other = await open(place);
        for (let round = 0; round < dependencies; round++) {
          const bases = await Promise.all(Array.from({ length: 10 }, () => mill.create()));
          const claims = await Promise.all(bases.map((_, index) => mill.mustClaim(`w${index + 1}`)));
          const dependents = await Promise.all([
            ...claims.map((task) => mill.finish(task).then(() => null)),
            ...claims.flatMap((task) => [
              other.create({ dependsOn: [task.id] }),
              other.create({ dependsOn: [task.id] }),
            ]),
          ]);
          for (const task of dependents) {
            if (!task) continue;
            expect(await mill.store.task(task.id)).toMatchObject({ unmet: 0 });
            await mill.must({ type: 'task.cancel', projectId: PROJECT, taskId: task.id, by: personActor('test') });
          }
        }
        expect(await compareLogWithProjection(mill.store)).toEqual([]);
        await other.store.close();
      });

      test('kill -9 of a writing process loses nothing it acknowledged', { timeout: 600_000 }, async () => {
        const acknowledged: string[] = [];
        for (const killAfter of kills) acknowledged.push(...(await writeUntilKilled(place, killAfter)));
        expect(acknowledged.length).toBeGreaterThanOrEqual(kills.reduce((sum, count) => sum + count));
        const stored = new Set((await mill.store.tasks({ projectId: PROJECT })).map((task) => task.id));
        expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
        expect(await compareLogWithProjection(mill.store)).toEqual([]);
      });
    },
  );
}

function startClaimer(place: Place) {
  const child = spawn(process.execPath, [script('./store-claimer.ts'), place.url, place.schema, String(LANES)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ready = lines.next();
  return {
    ready,
    go: () => void child.stdin.write('go\n'),
    leased: ready
      .then(() => lines.next())
      .then(({ value }) =>
        String(value ?? '')
          .split(' ')
          .filter(Boolean),
      ),
  };
}

async function writeUntilKilled(place: Place, killAfter: number): Promise<string[]> {
  const child = spawn(process.execPath, [script('./store-writer.ts'), place.url, place.schema], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  const lines: string[] = [];
  let unfinished = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk: string) => {
    const parts = (unfinished + chunk).split('\n');
    unfinished = parts.pop() ?? '';
    lines.push(...parts);
    if (lines.length >= killAfter) child.kill('SIGKILL');
  });
  await closed;
  return lines;
}

/** The log itself must show it: never two leases on a task, nor two tasks with a worker. */
async function expectExclusiveLeases(mill: Mill): Promise<void> {
  const holders = new Map<string, string>();
  for (let after = 0; ; ) {
    const page = await mill.store.events({ types: ['lease.claimed', 'lease.released'], after, limit: 1000 });
    for (const { seq, body } of page) {
      after = seq;
      if (body.type === 'lease.claimed') {
        expect([...holders.keys()]).not.toContain(body.subjectId);
        expect([...holders.values()]).not.toContain(body.workerId);
        holders.set(body.subjectId, body.workerId);
      } else if (body.type === 'lease.released') {
        holders.delete(body.subjectId);
      }
    }
    if (page.length < 1000) return;
  }
}
