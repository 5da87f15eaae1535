import { setTimeout as delay } from 'node:timers/promises';
import { type Api, AppError, type EmergencyImpact } from '@tidemill/contract';
import type { Command } from 'commander';
import { type ForcedStop, forceStop } from '../assembly/force-stop.ts';
import { openOffline } from '../assembly/offline.ts';
import { findDaemon } from '../assembly/reach.ts';
import { type CliContext, type Json, jsonOption, withProject } from './context.ts';
import { confirm, personName } from './person.ts';

const LOOK_MS = 20;
/** A daemon that does not respond within this time counts as hanging. */
const ANSWER_MS = 5_000;
/** Agents and gates get five seconds to end; a daemon that takes longer than this hangs. */
const STOP_NOW_MS = 20_000;
/** An emergency stop takes at most nine seconds; a daemon that takes longer hangs, and is killed. */
const EMERGENCY_MS = 12_000;
/** The daemon cannot do it. Any other refusal is about the request, and is shown. */
const FAILED: AppError['code'][] = ['daemon_unreachable', 'internal', 'store_failed', 'disk_full', 'version_mismatch'];

interface StopOptions extends Json {
  now?: boolean;
  emergency?: boolean;
  yes?: boolean;
}

export function addStop(program: Command, context: CliContext): void {
  program
    .command('stop')
    .description('stop the daemon at the next checkpoint; work is kept')
    .option('--now', 'do not wait for checkpoints; kill a daemon that does not respond')
    .option('--emergency', 'kill all agents at once; all workers stay stopped until `tidemill resume`')
    .option('--yes', 'do not ask for confirmation')
    .option(...jsonOption)
    .action((options: StopOptions) => (options.emergency ? emergency(context, options) : stop(context, options)));

  program
    .command('purge')
    .description('cancel all open tasks that have not started')
    .option('--yes', 'do not ask for confirmation')
    .option(...jsonOption)
    .action((options: StopOptions) => purge(context, options));
}

async function stop(context: CliContext, options: StopOptions): Promise<void> {
  const found = await findDaemon(context.env, ANSWER_MS);
  if (!found) {
    if (!options.now) throw noDaemon();
    return reportForced(context, options, await forceStop(context.env));
  }
  const { api, daemon } = found;
  const gone = untilGone(context.env, api);
  await api.stop({ now: options.now ?? false });
  if (options.now && (await Promise.race([gone, delay(STOP_NOW_MS, 'hangs' as const)])) === 'hangs')
    return reportForced(context, options, await forceStop(context.env));
  await gone;
  if (options.json) context.terminal.json({ stopped: true, pid: daemon.pid });
  else context.terminal.line(`The daemon (pid ${daemon.pid}) has stopped.`);
}

const noDaemon = () =>
  new AppError('daemon_unreachable', 'no daemon responds for this data folder', {
    hint: 'Start one with `tidemill up`. If one hangs, kill it with `tidemill stop --now`.',
  });

/** Resolves when the daemon has closed the store and released the lock, shortly after its streams end. */
async function untilGone(env: NodeJS.ProcessEnv, api: Api): Promise<'gone'> {
  try {
    for await (const _ of api.events({ after: Number.MAX_SAFE_INTEGER, follow: true }));
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'daemon_unreachable')) throw error;
  }
  while (await findDaemon(env, ANSWER_MS)) await delay(LOOK_MS);
  return 'gone';
}

function reportForced({ terminal }: CliContext, options: Json, { pid, killed }: ForcedStop): void {
  if (pid === null && killed.length === 0) throw noDaemon();
  if (options.json) {
    terminal.json({ stopped: true, forced: true, pid, killed });
    return;
  }
  if (pid !== null) terminal.line(`The daemon (pid ${pid}) did not respond and was killed.`);
  else terminal.line('No daemon was running.');
  for (const { pid: child, command } of killed) terminal.line(`Killed ${child}: ${command}`);
  terminal.line('Work is kept and continues with the next `tidemill up`.');
}

/** A daemon that does not stop its agents in time is killed with all its child processes before the store is opened. */
async function emergency(context: CliContext, options: StopOptions): Promise<void> {
  const order = { by: personName(context.env), reason: 'tidemill stop --emergency' };
  const found = await findDaemon(context.env, ANSWER_MS);
  if (!(await confirm(context, await impactOf(found?.api, options), options.yes))) return;
  const report = found && (await stopWithin(found.api, order));
  if (report) return reportEmergency(context, options, report, null);
  const forced = await forceStop(context.env);
  const offline = await openOffline(context.env);
  try {
    reportEmergency(context, options, await offline.api.emergencyStop(order), forced);
  } finally {
    await offline.close();
  }
}

/** Null when the daemon does not do it in time. */
const stopWithin = (api: Api, order: { by: string; reason: string }) =>
  api.emergencyStop(order, AbortSignal.timeout(EMERGENCY_MS)).catch(nullIfFailed);

/** What it would stop, for the question. The stop also works if the daemon cannot list it. */
async function impactOf(api: Api | undefined, { yes }: StopOptions): Promise<string> {
  if (yes) return '';
  if (!api) return 'No daemon responds. This kills it and all processes it started.';
  const impact = await api.emergencyImpact({}, AbortSignal.timeout(ANSWER_MS)).catch(nullIfFailed);
  return impact ? impactText(impact) : 'The running agents cannot be listed now. This stops all of them.';
}

function nullIfFailed(error: unknown): null {
  if (error instanceof AppError && FAILED.includes(error.code)) return null;
  throw error;
}

function impactText({ busy, workers, deliveries }: EmergencyImpact): string {
  const named = deliveries.map(({ ref, environment }) => `${ref} to ${environment}`).join(', ');
  const rolled = named ? ` ${named} ${deliveries.length === 1 ? 'is' : 'are'} stopped and rolled back.` : '';
  const all = `All ${workers} workers stay stopped until \`tidemill resume\`; work is kept.${rolled}`;
  if (busy.length === 0) return `No agent is working. ${all}`;
  const agents = busy.length === 1 ? '1 agent' : `${busy.length} agents`;
  return `This stops ${agents} working on ${numbers(busy.map(({ number }) => number))}. ${all}`;
}

function reportEmergency(
  { terminal }: CliContext,
  options: Json,
  report: { workers: string[]; tasks: number[]; deliveries: string[] },
  forced: ForcedStop | null,
): void {
  if (options.json) {
    terminal.json({ stopped: true, ...report, forced });
    return;
  }
  if (forced?.pid) terminal.line(`The daemon (pid ${forced.pid}) did not respond and was killed.`);
  for (const { pid, command } of forced?.killed ?? []) terminal.line(`Killed ${pid}: ${command}`);
  terminal.line(
    report.tasks.length > 0
      ? `Stopped ${report.workers.join(', ')} on ${numbers(report.tasks)}. Work is kept.`
      : 'No agent was working.',
  );
  for (const delivery of report.deliveries) terminal.line(`Stopped ${delivery}. What it changed is rolled back.`);
  terminal.line('All workers stay stopped until `tidemill resume`.');
}

async function purge(context: CliContext, options: StopOptions): Promise<void> {
  await withProject(context, async (api, project) => {
    const { terminal } = context;
    const open = (await api.status({ project: project.id })).tasks.open ?? 0;
    const impact = `This cancels ${open === 1 ? '1 task' : `${open} tasks`} that ${open === 1 ? 'has' : 'have'} not started.`;
    if (open > 0 && !(await confirm(context, impact, options.yes))) return;
    const { tasks } = await api.purgeQueue({ project: project.id, by: personName(context.env) });
    if (options.json) return terminal.json({ tasks });
    terminal.line(tasks.length > 0 ? `Cancelled ${numbers(tasks)}.` : 'The queue was empty.');
  });
}

const numbers = (tasks: number[]) => tasks.map((number) => `#${number}`).join(', ');
