import { simulate } from '../test/sim/simulation.ts';
import { type BenchOptions, sized } from './options.ts';
import { row, type Section } from './row.ts';
import { median } from './sample.ts';

/** How fast the simulator plays the real engine, faults and all. */
export async function run(options: BenchOptions): Promise<Section> {
  const rates: number[] = [];
  for (let seed = 1; seed <= sized(options, 5, 1); seed += 1) {
    const startedAt = performance.now();
    const report = await simulate({ seed, days: sized(options, 20, 5), tasksPerDay: 12 });
    if (report.broken) throw report.broken;
    rates.push(report.virtualDays / ((performance.now() - startedAt) / 60_000));
  }
  return {
    name: 'simulator',
    title: 'Simulator',
    rows: [
      row({
        name: 'virtual days per minute',
        value: median(rates),
        unit: '/min',
        peer: { name: 'the real time they stand for', value: 1 / (24 * 60) },
        target: { atLeast: 100 },
      }),
    ],
    notes: ['12 tasks a day, the default mix of crashes, late messages, liars and conflicts.'],
  };
}
