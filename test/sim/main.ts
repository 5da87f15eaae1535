import { parseArgs } from 'node:util';
import { crashEverywhere } from './crashes.ts';
import { plantedBugs } from './planted.ts';
import { type Report, simulate } from './simulation.ts';

/** Without arguments: the stories of which `npm test` runs the first 60. */
const MANY = { seeds: '1000', days: '0.2', tasksPerDay: '36' };
const ONE = { seeds: '1', days: '10', tasksPerDay: '12' };
const usual = process.argv.length > 2 ? ONE : MANY;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: usual.seeds },
    days: { type: 'string', default: usual.days },
    'tasks-per-day': { type: 'string', default: usual.tasksPerDay },
    plant: { type: 'string' },
    crashes: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log(`npm run sim -- [--seed N] [--seeds K] [--days D] [--tasks-per-day T] [--plant "BUG"]
Plays K stories from seed N on, D virtual days each, and ends with 1 at the first broken invariant.
Without arguments: ${MANY.seeds} stories of ${MANY.days} days with ${MANY.tasksPerDay} tasks a day.
--crashes plays one story again and again, with a crash before and after each of its writes.
Bugs to plant: ${Object.keys(plantedBugs).join(', ')}`);
  process.exit(0);
}

const plant = values.plant === undefined ? undefined : plantedBugs[values.plant];
if (values.plant !== undefined && !plant) {
  console.error(`There is no planted bug "${values.plant}". Choose one of: ${Object.keys(plantedBugs).join(', ')}.`);
  process.exit(2);
}

if (values.crashes) {
  const { crashes, broken } = await crashEverywhere(() => [false, true]);
  console.log(broken ?? `${crashes} crashes: no invariant broken`);
  process.exit(broken ? 1 : 0);
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
