import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, loadavg, totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { BenchOptions } from './options.ts';
import { type Section, table } from './row.ts';

type RunSection = (options: BenchOptions) => Promise<Section>;

/** In this order; each is loaded only when it runs, so that a section's libraries are not in another's memory. */
const SECTIONS: Record<string, () => Promise<{ run: RunSection }>> = {
  start: () => import('./start.ts'),
  hook: () => import('./hook.ts'),
  idle: () => import('./idle.ts'),
  create: () => import('./create.ts'),
  api: () => import('./api.ts'),
  claims: () => import('./claims.ts'),
  growth: () => import('./growth.ts'),
  pipeline: () => import('./pipeline.ts'),
  merging: () => import('./merging.ts'),
  proofs: () => import('./proofs.ts'),
  observe: () => import('./observe.ts'),
  forecast: () => import('./forecast.ts'),
  'hand-offs': () => import('./hand-offs.ts'),
  latency: () => import('./latency.ts'),
  crowd: () => import('./crowd.ts'),
  dashboards: () => import('./dashboards.ts'),
  page: () => import('./page.ts'),
  reply: () => import('./reply.ts'),
  board: () => import('./board.ts'),
  health: () => import('./health.ts'),
  specs: () => import('./specs.ts'),
  traces: () => import('./traces.ts'),
  lessons: () => import('./lessons.ts'),
  replay: () => import('./replay.ts'),
  mcp: () => import('./mcp.ts'),
  vscode: () => import('./vscode.ts'),
  vendors: () => import('./vendors.ts'),
  loop: () => import('./loop.ts'),
  tracker: () => import('./tracker.ts'),
  simulator: () => import('./simulator.ts'),
  criteria: () => import('./criteria.ts'),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const unknown = positionals.filter((name) => !(name in SECTIONS));
if (values.help || unknown.length > 0) {
  if (unknown.length > 0) console.error(`There is no section ${unknown.join(', ')}.`);
  console.log(`npm run bench -- [--quick] [--json FILE] [SECTION …]\nSections: ${Object.keys(SECTIONS).join(', ')}`);
  process.exit(unknown.length > 0 ? 2 : 0);
}

// Nobody's own git settings or name: the figures would depend on them.
Object.assign(process.env, {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Bench',
  GIT_AUTHOR_EMAIL: 'bench@localhost',
  GIT_COMMITTER_NAME: 'Bench',
  GIT_COMMITTER_EMAIL: 'bench@localhost',
});

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130));

// What others do meanwhile slows everything here; ratios suffer less than the figures themselves.
const loadBefore = loadavg();
if (loadBefore[0]! > cpus().length / 2)
  console.log(`The machine is busy (load ${loadBefore[0]!.toFixed(1)} on ${cpus().length} cores): trust the ratios.`);

/** npm runs this in the repository's root; a file is named from where the person stands. */
const file = values.json
  ? resolve(process.env.INIT_CWD ?? '.', values.json)
  : join(import.meta.dirname, 'results', 'latest.json');
const startedAt = performance.now();
const sections: Section[] = [];
const failures: string[] = [];
for (const name of positionals.length > 0 ? positionals : Object.keys(SECTIONS)) {
  try {
    const { run } = await SECTIONS[name]!();
    const section = await run({ quick: values.quick });
    sections.push(section);
    console.log(`\n${table(section)}`);
  } catch (error) {
    failures.push(name);
    console.error(`\nThe section ${name} broke off:`, error);
  }
}

const judged = sections.flatMap((section) => section.rows).filter((row) => row.met !== undefined);
const missed = judged.filter((row) => !row.met);
const seconds = (performance.now() - startedAt) / 1000;
await mkdir(dirname(file), { recursive: true });
const [cpu] = cpus();
await writeFile(
  file,
  `${JSON.stringify(
    {
      at: new Date().toISOString(),
      quick: values.quick,
      seconds,
      machine: { cpu: cpu?.model, cores: cpus().length, memory: totalmem(), loadBefore, loadAfter: loadavg() },
      node: process.version,
      sections,
      failures,
    },
    null,
    2,
  )}\n`,
);
console.log(`\n${judged.length - missed.length} of ${judged.length} targets met, in ${seconds.toFixed(0)} s.`);
for (const row of missed) console.log(`  missed: ${row.name} (${row.peer ?? 'itself'}): ${row.target}`);
if (failures.length > 0) console.log(`  broken off: ${failures.join(', ')}`);
console.log(`Everything is in ${file}.`);
// A missed target is said, not punished; a section that could not run is a fault.
process.exit(failures.length > 0 ? 1 : 0);
