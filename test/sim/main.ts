import { parseArgs } from 'node:util';
import { plantedBugs } from './planted.ts';
import { type Report, simulate } from './simulation.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1' },
    days: { type: 'string', default: '10' },
    'tasks-per-day': { type: 'string', default: '12' },
    plant: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log(`npm run sim -- [--seed N] [--seeds K] [--days D] [--tasks-per-day T] [--plant "BUG"]
Plays K stories from seed N on, D virtual days each, and ends with 1 at the first broken invariant.
Bugs to plant: ${Object.keys(plantedBugs).join(', ')}`);
  process.exit(0);
}

const plant = values.plant === undefined ? undefined : plantedBugs[values.plant];
if (values.plant !== undefined && !plant) {
  console.error(`There is no planted bug "${values.plant}". Choose one of: ${Object.keys(plantedBugs).join(', ')}.`);
  process.exit(2);
}

const startedAt = performance.now();
const total = { days: 0, events: 0, landed: 0, crashes: 0 };
for (let seed = Number(values.seed); seed < Number(values.seed) + Number(values.seeds); seed += 1) {
  const report: Report = await simulate({
    seed,
    days: Number(values.days),
    tasksPerDay: Number(values['tasks-per-day']),
    plant,
  });
  total.days += report.virtualDays;
  total.events += report.events;
  total.landed += report.landed;
  total.crashes += report.crashes;
  if (report.broken) {
    console.error(`seed ${seed}: ${report.broken.message}`);
    console.error(
      `replay: npm run sim -- --seed ${seed} --days ${values.days} --tasks-per-day ${values['tasks-per-day']}`,
    );
    process.exit(1);
  }
}
const minutes = (performance.now() - startedAt) / 60_000;
console.log(`seeds ${values.seed}–${Number(values.seed) + Number(values.seeds) - 1}: no invariant broken`);
console.log(
  `${total.days.toFixed(1)} virtual days, ${total.events} events, ${total.landed} landed, ${total.crashes} crashes, ${(total.days / minutes).toFixed(0)} virtual days per minute`,
);
