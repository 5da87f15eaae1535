import { parseArgs } from 'node:util';
import { crashEverywhere } from './crashes.ts';
import { simulateLearning } from './learning-simulation.ts';
import { simulateLoop } from './loop-simulation.ts';
import { plantedBugs } from './planted.ts';
import { plantedPullBugs } from './planted-pulls.ts';
import { type Report, simulate } from './simulation.ts';

/** Without arguments: the stories of which `npm test` runs the first six. */
const MANY = { seeds: '1000', days: '0.2', tasksPerDay: '36' };
const ONE = { seeds: '1', days: '10', tasksPerDay: '12' };
const usual = process.argv.length > 2 ? ONE : MANY;

const bugs = { ...plantedBugs, ...plantedPullBugs };

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: usual.seeds },
    days: { type: 'string', default: usual.days },
    'tasks-per-day': { type: 'string', default: usual.tasksPerDay },
    plant: { type: 'string' },
    crashes: { type: 'boolean', default: false },
    loop: { type: 'boolean', default: process.argv.length === 2 },
    learning: { type: 'boolean', default: false },
    pulls: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log(`npm run sim -- [--seed N] [--seeds K] [--days D] [--tasks-per-day T] [--plant "BUG"] [--pulls]
Plays K stories from seed N on, D virtual days each, and ends with 1 at the first broken invariant.
In every third story work lands by pull requests, in all of them with --pulls.
Without arguments: ${MANY.seeds} stories of ${MANY.days} days with ${MANY.tasksPerDay} tasks a day.
--loop plays 30 days of the loop, or as many as --days says; without arguments it comes after the stories.
--learning plays K worlds in which agents repeat five mistakes, with and without learning, 30 tasks each.
--crashes plays one story again and again, with a crash before and after each of its writes.
Bugs to plant: ${Object.keys(bugs).join(', ')}`);
  process.exit(0);
}

const plant = values.plant === undefined ? undefined : bugs[values.plant];
if (values.plant !== undefined && !plant) {
  console.error(`There is no planted bug "${values.plant}". Choose one of: ${Object.keys(bugs).join(', ')}.`);
  process.exit(2);
}

if (values.crashes) {
  const { crashes, broken } = await crashEverywhere(() => [false, true]);
  console.log(broken ?? `${crashes} crashes: no invariant broken`);
  process.exit(broken ? 1 : 0);
}

/** The loop for a month: the share of time in which the queue was within its limits, and the use of all categories, count too. */
async function playLoop(days: number): Promise<boolean> {
  const startedAt = performance.now();
  const report = await simulateLoop({ seed: Number(values.seed), days });
  const { broken, virtualDays, landed, accepted, dropped, usedCategories, inRange, stalls, crashes } = report;
  const { cycleHours, holds, mostInADay } = report;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  console.log(
    `loop: ${virtualDays.toFixed(1)} virtual days in ${seconds} s, ${accepted} proposals accepted, ${dropped} dropped, ${landed} landed, ${crashes} crashes, ${usedCategories} categories used, queue within its limits for ${(inRange * 100).toFixed(1)} % of the time, ${stalls} explained stalls`,
  );
  console.log(
    `loop: at most $${mostInADay.toFixed(2)} within 24 hours, the budget was spent ${holds} times, ${cycleHours.toFixed(1)} h from a proposal to its landing`,
  );
  const fault = broken ?? (inRange < 0.9 ? 'the queue was outside its limits for too long' : null);
  if (fault) console.error(`loop: ${fault}`);
  return fault === null;
}

if (values.loop && process.argv.length > 2)
  process.exit((await playLoop(values.days === ONE.days ? 30 : Number(values.days))) ? 0 : 1);

if (values.learning) {
  for (let seed = Number(values.seed); seed < Number(values.seed) + Number(values.seeds); seed += 1) {
    const without = await simulateLearning({ seed, tasks: 30, isLearning: false });
    const { repeated, broken, crashes } = await simulateLearning({ seed, tasks: 30, isLearning: true });
    const fault = [...without.broken, ...broken][0];
    if (fault) {
      console.error(`seed ${seed}: ${fault}`);
      process.exit(1);
    }
    console.log(
      `seed ${seed}: ${repeated} repeated mistakes, ${without.repeated} without learning; ${crashes} crashes`,
    );
  }
  process.exit(0);
}

const startedAt = performance.now();
const total = { days: 0, events: 0, landed: 0, crashes: 0 };
for (let seed = Number(values.seed); seed < Number(values.seed) + Number(values.seeds); seed += 1) {
  const report: Report = await simulate({
    seed,
    days: Number(values.days),
    tasksPerDay: Number(values['tasks-per-day']),
    plant,
    ...(values.pulls ? { landing: 'pull_request' } : {}),
  });
  total.days += report.virtualDays;
  total.events += report.events;
  total.landed += report.landed;
  total.crashes += report.crashes;
  if (report.broken) {
    console.error(`seed ${seed}: ${report.broken.message}`);
    console.error(
      `replay: npm run sim -- --seed ${seed} --days ${values.days} --tasks-per-day ${values['tasks-per-day']}${values.pulls ? ' --pulls' : ''}`,
    );
    process.exit(1);
  }
}
const minutes = (performance.now() - startedAt) / 60_000;
console.log(`seeds ${values.seed}–${Number(values.seed) + Number(values.seeds) - 1}: no invariant broken`);
console.log(
  `${total.days.toFixed(1)} virtual days, ${total.events} events, ${total.landed} landed, ${total.crashes} crashes, ${(total.days / minutes).toFixed(0)} virtual days per minute`,
);
if (values.loop && !(await playLoop(30))) process.exit(1);
