/**
 * A process of its own that claims and finishes until nothing is left: `store-claimer.ts URL SCHEMA LANES`. Starts when
 * its standard input says so, and prints the ids of the tasks it held. Lanes have the same workers in every process, so
 * two of these race for tasks and for workers.
 */
import { once } from 'node:events';
import { open, PROJECT } from './store-bed.ts';

const [url = '', schema = '', lanes = '8'] = process.argv.slice(2);
const mill = await open({ url, schema });
const leased: string[] = [];
console.log('ready');
await once(process.stdin, 'data');
await Promise.all(Array.from({ length: Number(lanes) }, (_, lane) => drain(`w${lane + 1}`)));
console.log(leased.join(' '));
await mill.store.close();
process.stdin.destroy();

async function drain(worker: string): Promise<void> {
  for (;;) {
    const reply = await mill.claim(worker);
    if (reply.ok) {
      leased.push(reply.task!.id);
      await mill.finish(reply.task!);
    } else if (reply.refusal.code === 'nothing_ready' || reply.refusal.code === 'window_exhausted') {
      // The other process may hold what there is; only an empty queue is the end.
      if ((await mill.store.workload(PROJECT)).ready === 0) return;
    } else if (reply.refusal.code !== 'worker_busy') {
      throw new Error(reply.refusal.message);
    }
  }
}
