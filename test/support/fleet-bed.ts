import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EventBody, SessionFile } from '@tidemill/contract';
import { expect } from 'vitest';
import { leakedProcesses } from '../../packages/daemon/src/process/leaks.ts';
import { TemporaryRepository } from '../e2e/cli-repository.ts';
import { TidemillHome } from './tidemill-home.ts';
import { until } from './until.ts';

/** Starts its work, shows that it runs, and ends on a sign of the test, so that a test controls its duration. */
const AGENT = `import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
const { task } = JSON.parse(readFileSync(0, 'utf8'));
const stage = process.env.STAGE_DOOR;
if (task.title.includes('stubborn')) process.on('SIGTERM', () => undefined);
if (task.title.includes('dies')) {
  console.error('out of steam');
  process.exit(3);
}
writeFileSync('work-' + task.number + '.txt', 'begun');
for (let tick = 0; !existsSync(stage + '/go-' + task.number); tick += 1) {
  writeFileSync(stage + '/tick-' + task.number, String(tick));
  await delay(20);
}
writeFileSync('work-' + task.number + '.txt', 'done');
console.log(JSON.stringify({ tidemill: 'result', outcome: 'pr_ready', summary: 'done' }));
`;

/** A repository and agents that work until the test opens the door of their task. */
export class FleetBed {
  readonly machine = new TidemillHome({ USER: 'ada' });
  readonly repository = new TemporaryRepository({ 'agent.mjs': AGENT });
  readonly root = this.repository.root;
  readonly #door = join(this.machine.home, 'door');

  constructor() {
    mkdirSync(this.#door);
    const where = JSON.stringify(this.#door);
    const agent = `{ type: command, command: [node, agent.mjs], env: { STAGE_DOOR: ${where} }, writable: [${where}] }`;
    this.repository.write({
      '.tidemill/config.yaml': `target: main\npipeline: quick\nagents:\n  default: ${agent}\ngates:\n  - { name: test, run: "true" }\n`,
    });
  }

  async close(): Promise<void> {
    await this.machine.close();
    this.repository.remove();
  }

  /** Adds a task; returns its number. */
  add = async (title: string) =>
    (await this.machine.ask(this.root, (api, project) => api.addTask({ project, title }))).number;
  run = (...args: string[]) => this.machine.run(args, this.root);
  json = <T>(...args: string[]) => this.machine.json<T>(args, this.root);
  workers = () => this.machine.ask(this.root, (api, project) => api.workers({ project }));
  workerNamed = async (name: string) => (await this.workers()).find((each) => each.name === name)!;
  task = (number: number) => this.machine.ask(this.root, (api, project) => api.task({ project, task: number }));
  status = () => this.machine.ask(this.root, (api, project) => api.status({ project }));
  events = (...types: EventBody['type'][]) => this.machine.events(this.root, types);
  idle = () => this.machine.idle(this.root);

  session(name: string) {
    return SessionFile.parse(JSON.parse(readFileSync(join(this.root, '.claude-sessions', `${name}.session`), 'utf8')));
  }

  openDoors(...numbers: number[]): void {
    for (const number of numbers) writeFileSync(join(this.#door, `go-${number}`), '');
  }
  /** How far the agent of this task has come. */
  tick = (number: number) => readFileSync(join(this.#door, `tick-${number}`), 'utf8');
  /** Waits until the agents of these tasks have started. */
  begun = (...numbers: number[]) =>
    until(() => numbers.every((number) => existsSync(join(this.#door, `tick-${number}`))));

  /** Running agents of this machine, with their state in the kernel. */
  async agents(): Promise<{ pid: number; state: string }[]> {
    const home = readFileSync(join(this.machine.data, 'home.id'), 'utf8').trim();
    return (await leakedProcesses(home)).flatMap(({ pid }) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
        return [{ pid, state: stat.slice(stat.lastIndexOf(')') + 2)[0]! }];
      } catch {
        return []; // ended in the meantime
      }
    });
  }
}

export const NEEDS_PROC = 'it looks at processes in /proc, which this system does not have';

/** Stops this many agents that ignore signals, then the daemon, and continues with the next one. */
export async function emergencyStop(bed: FleetBed, agents: number): Promise<void> {
  const before = (await bed.status()).tasks;
  const all: number[] = [];
  for (let count = 1; count <= agents; count += 1) all.push(await bed.add(`Task ${count}, stubborn`));
  await bed.begun(...all);
  const asked = await bed.run('stop', '--emergency');
  expect(asked.code).not.toBe(0);
  const named = all.map((number) => `#${number}`).join(', ');
  expect(asked.stderr.replaceAll('\n', ' ')).toContain(`This stops ${agents} agents working on ${named}.`);
  expect(await bed.agents()).not.toEqual([]);

  const report = await bed.json<{ workers: string[]; tasks: number[] }>('stop', '--emergency', '--yes');
  expect(report.tasks).toEqual(all);
  expect(await bed.agents()).toEqual([]);
  const stopped = await bed.workers();
  expect(stopped.map((worker) => [worker.status, worker.task])).toEqual(Array(agents + 3).fill(['stopped', null]));
  const [audit] = (await bed.events('emergency.executed')).slice(-1);
  expect(audit?.body).toMatchObject({ operation: 'emergency_stop', by: { name: 'ada' }, tasks: all });
  // Leases do not wait for it without limit, so on a busy machine some work may be saved a moment later.
  const ids = await Promise.all(all.map(async (number) => (await bed.task(number)).task.id));
  await until(async () => {
    const kept = await bed.events('snapshot.taken');
    return ids.every((id) => kept.some(({ body }) => 'taskId' in body && body.taskId === id));
  });

  bed.openDoors(...all);
  await bed.run('stop');
  const next = await bed.machine.up(bed.root, '--workers', String(agents));
  expect((await bed.workers()).every((worker) => worker.status === 'stopped' && worker.task === null)).toBe(true);
  expect((await bed.run('status')).stdout).toContain('paused; continue with tidemill resume');
  await bed.run('resume');
  await bed.idle();
  expect((await bed.status()).tasks).toEqual({ ...before, done: (before.done ?? 0) + agents });
  const { tasksCompleted } = await bed.workerNamed('agent-1');
  await bed.run('stop');
  await next.ended;
  expect(bed.session('agent-1')).toMatchObject({ status: 'stopped', tasksCompleted, currentProjectNumber: null });
}
