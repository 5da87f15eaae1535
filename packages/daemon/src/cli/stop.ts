import { setTimeout as delay } from 'node:timers/promises';
import { type Api, AppError, type EmergencyImpact } from '@tidemill/contract';
import type { Command } from 'commander';
import { type ForcedStop, forceStop } from '../assembly/force-stop.ts';
import { openOffline } from '../assembly/offline.ts';
import { findDaemon } from '../assembly/reach.ts';
import { type CliContext, type Json, jsonOption, withProject } from './context.ts';
import { confirm, personName } from './person.ts';

const LOOK_MS = 20;
/** A daemon that says nothing for this long does not answer. */
const ANSWER_MS = 5_000;
/** Agents get five seconds to end, gates too; whoever needs longer hangs. */
const STOP_NOW_MS = 20_000;

interface StopOptions extends Json {
  now?: boolean;
  emergency?: boolean;
  yes?: boolean;
}

export function addStop(program: Command, context: CliContext): void {
  program
    .command('stop')
    .description('stop the running daemon: steps finish to a checkpoint, work is kept')
    .option('--now', 'do not wait for checkpoints; a daemon that does not answer is killed')
    .option('--emergency', 'kill every agent at once and keep all workers stopped until `tidemill resume`')
    .option('--yes', 'do not ask')
    .option(...jsonOption)
    .action((options: StopOptions) => (options.emergency ? emergency(context, options) : stop(context, options)));

  program
    .command('recover')
    .description('give back tasks whose worker is gone or held them for more than 8 hours; work is kept')
    .option(...jsonOption)
    .action((options: Json) =>
      withProject(context, async (api, project) => {
        const { tasks } = await api.recoverStuck({ project: project.id, by: personName(context.env) });
        if (options.json) return context.terminal.json({ tasks });
        context.terminal.line(tasks.length > 0 ? `Given back: ${numbers(tasks)}.` : 'No task was stuck.');
      }),
    );

  program
    .command('purge')
    .description('cancel every task that nobody has begun')
    .option('--yes', 'do not ask')
    .option(...jsonOption)
    .action((options: StopOptions) => purge(context, options));
}

async function stop(context: CliContext, options: StopOptions): Promise<void> {
  const found = await findDaemon(context.env, ANSWER_MS);
  if (!found) {
    if (!options.now) throw silent();
    return tellForced(context, options, await forceStop(context.env));
  }
  const { api, daemon } = found;
  const gone = untilGone(context.env, api);
  await api.stop({ now: options.now ?? false });
  if (options.now && (await Promise.race([gone, delay(STOP_NOW_MS, 'hangs' as const)])) === 'hangs')
    return tellForced(context, options, await forceStop(context.env));
  await gone;
  if (options.json) context.terminal.json({ stopped: true, pid: daemon.pid });
  else context.terminal.line(`The daemon (pid ${daemon.pid}) has stopped.`);
}

const silent = () =>
  new AppError('daemon_unreachable', 'no daemon answers for this data folder', {
    hint: 'Start one with `tidemill up`. If one hangs, `tidemill stop --now` ends it.',
  });

/** Settles when the daemon has let go of the store and the lock, a little after its streams have ended. */
async function untilGone(env: NodeJS.ProcessEnv, api: Api): Promise<'gone'> {
  try {
    for await (const _ of api.events({ after: Number.MAX_SAFE_INTEGER, follow: true }));
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'daemon_unreachable')) throw error;
  }
  while (await findDaemon(env, ANSWER_MS)) await delay(LOOK_MS);
  return 'gone';
}

function tellForced({ terminal }: CliContext, options: Json, { pid, killed }: ForcedStop): void {
  if (pid === null && killed.length === 0) throw silent();
  if (options.json) {
    terminal.json({ stopped: true, forced: true, pid, killed });
    return;
  }
  if (pid !== null) terminal.line(`The daemon (pid ${pid}) did not answer and was killed.`);
  else terminal.line('No daemon was running.');
  for (const { pid: child, command } of killed) terminal.line(`Killed ${child}: ${command}`);
  terminal.line('Work is kept; the next `tidemill up` goes on with it.');
}

/** Kills first and asks the store later; a daemon that does not answer is killed with all that it started. */
async function emergency(context: CliContext, options: StopOptions): Promise<void> {
  const order = { by: personName(context.env), reason: 'tidemill stop --emergency' };
  const found = await findDaemon(context.env, ANSWER_MS);
  if (found) {
    const impact = await found.api.emergencyImpact({});
    if (!(await confirm(context, impactText(impact), options.yes))) return;
    return tellEmergency(context, options, await found.api.emergencyStop(order), null);
  }
  if (!(await confirm(context, 'No daemon answers. This kills it and all that it started.', options.yes))) return;
  const forced = await forceStop(context.env);
  const offline = await openOffline(context.env);
  try {
    tellEmergency(context, options, await offline.api.emergencyStop(order), forced);
  } finally {
    await offline.close();
  }
}

function impactText({ busy, workers }: EmergencyImpact): string {
  const all = `All ${workers} workers stay stopped until \`tidemill resume\`; work is kept.`;
  if (busy.length === 0) return `No agent is at work. ${all}`;
  const agents = busy.length === 1 ? '1 agent' : `${busy.length} agents`;
  return `This stops ${agents} working on ${numbers(busy.map(({ number }) => number))}. ${all}`;
}

function tellEmergency(
  { terminal }: CliContext,
  options: Json,
  report: { workers: string[]; tasks: number[] },
  forced: ForcedStop | null,
): void {
  if (options.json) {
    terminal.json({ stopped: true, ...report, forced });
    return;
  }
  if (forced?.pid) terminal.line(`The daemon (pid ${forced.pid}) did not answer and was killed.`);
  for (const { pid, command } of forced?.killed ?? []) terminal.line(`Killed ${pid}: ${command}`);
  terminal.line(
    report.tasks.length > 0
      ? `Stopped ${report.workers.join(', ')} on ${numbers(report.tasks)}. Work is kept.`
      : 'Nobody was at work.',
  );
  terminal.line('All workers stay stopped until `tidemill resume`.');
}

async function purge(context: CliContext, options: StopOptions): Promise<void> {
  await withProject(context, async (api, project) => {
    const { terminal } = context;
    const open = (await api.status({ project: project.id })).tasks.open ?? 0;
    const impact = `This cancels ${open === 1 ? '1 task' : `${open} tasks`} that nobody has begun.`;
    if (open > 0 && !(await confirm(context, impact, options.yes))) return;
    const { tasks } = await api.purgeQueue({ project: project.id, by: personName(context.env) });
    if (options.json) return terminal.json({ tasks });
    terminal.line(tasks.length > 0 ? `Cancelled ${numbers(tasks)}.` : 'The queue was empty.');
  });
}

const numbers = (tasks: number[]) => tasks.map((number) => `#${number}`).join(', ');
