import type { Api, Project, WorkerOperation, WorkerView } from '@tidemill/contract';
import type { Command } from 'commander';
import { type CliContext, type Json, jsonOption, withProject } from './context.ts';
import { confirm, personName } from './person.ts';
import { elapsed, type Terminal, table } from './terminal.ts';

interface SteerOptions extends Json {
  yes?: boolean;
  now?: boolean;
}

const STEERING: [verb: string, operation: WorkerOperation, description: string][] = [
  ['start', 'start', 'start a worker'],
  ['pause', 'pause', 'pause a worker at its next checkpoint'],
  ['resume', 'resume', 'resume a paused or stopped worker'],
  ['stop', 'stop', 'stop a worker and release its task; work is kept'],
  ['restart', 'restart', 'stop a worker, clear its errors and start it'],
  ['reset', 'reset', 'restart a worker and clear its figures and session file'],
];

export function addWorkers(program: Command, context: CliContext): void {
  const workers = program.command('workers').description('list and manage workers');
  workers
    .command('list', { isDefault: true })
    .description('list workers with their task, health and resource use')
    .option(...jsonOption)
    .action((options: Json) =>
      withProject(context, async (api, project) => {
        const all = await api.workers({ project: project.id });
        if (options.json) context.terminal.json(all);
        else show(all, context.terminal);
      }),
    );

  for (const [verb, operation, description] of STEERING) {
    const command = workers
      .command(`${verb} <name>`)
      .description(`${description} (\`all\` for every worker)`)
      .option(...jsonOption);
    if (verb === 'pause') command.option('--now', 'freeze its agent at once (SIGSTOP)');
    if (verb === 'restart' || verb === 'reset') command.option('--yes', 'do not ask for confirmation');
    command.action((name: string, options: SteerOptions) =>
      steer(context, name, options.now ? 'freeze' : operation, options),
    );
  }

  workers
    .command('add')
    .description('add an agent until the daemon stops (at most 10)')
    .option(...jsonOption)
    .action((options: Json) =>
      withProject(context, async (api, project) => {
        const worker = await api.addWorker({ project: project.id });
        if (options.json) context.terminal.json(worker);
        else context.terminal.line(`${worker.name} added.`);
      }),
    );
  workers
    .command('remove <name>')
    .description('remove an agent until the daemon stops; its work is kept')
    .option(...jsonOption)
    .action((name: string, options: Json) =>
      withProject(context, async (api, project) => {
        const answer = await api.removeWorker({ project: project.id, worker: name });
        if (options.json) context.terminal.json(answer);
        else context.terminal.line(`${answer.removed} removed.`);
      }),
    );
  workers
    .command('reassign <task> [worker]')
    .description('give a task to another worker, or to any worker')
    .option(...jsonOption)
    .addHelpText('after', '\nExamples:\n  tidemill workers reassign 12\n  tidemill workers reassign 12 agent-2')
    .action((task: string, worker: string | undefined, options: Json) =>
      withProject(context, async (api, project) => {
        const by = personName(context.env);
        const summary = await api.reassignTask({ project: project.id, task, worker: worker ?? null, by });
        if (options.json) context.terminal.json(summary);
        else context.terminal.line(`#${summary.number} is now assigned to ${worker ?? 'any worker'}.`);
      }),
    );
}

async function steer(
  context: CliContext,
  name: string,
  operation: WorkerOperation,
  options: SteerOptions,
): Promise<void> {
  await withProject(context, async (api, project) => {
    if ((operation === 'restart' || operation === 'reset') && !(await mayEnd(context, api, project, name, options)))
      return;
    const by = personName(context.env);
    const changed = await api.steerWorkers({ project: project.id, worker: name, operation, by });
    if (options.json) context.terminal.json(changed);
    else show(changed, context.terminal);
  });
}

/** Asks for confirmation if the worker has a running agent. */
async function mayEnd(
  context: CliContext,
  api: Api,
  project: Project,
  name: string,
  { yes }: SteerOptions,
): Promise<boolean> {
  const named = (await api.workers({ project: project.id })).filter((each) => name === 'all' || each.name === name);
  const busy = named.filter(({ task, role }) => task && (role === 'builder' || role === 'reviewer'));
  if (busy.length === 0) return true;
  const who = busy.map((each) => `${each.name}, working on #${each.task!.number}`).join('; ');
  return confirm(context, `This stops ${who}. Work is kept.`, yes);
}

function show(workers: WorkerView[], { line, width }: Terminal): void {
  if (workers.length === 0) line('No workers yet. Start them with `tidemill up`.');
  const rows = workers.map((worker) => [
    worker.isOutside ? `${worker.name} (outside)` : worker.name,
    worker.desired === 'frozen' ? 'frozen' : worker.status,
    worker.lastBeatAt === null ? '' : worker.health,
    worker.memoryMb > 0 ? `${worker.memoryMb} MB ${worker.cpuPercent} %` : '',
    `${worker.tasksCompleted} done${worker.errors > 0 ? `, ${worker.errors} failed` : ''}`,
    worker.task
      ? `#${worker.task.number} ${worker.task.stage} ${elapsed(worker.elapsedMs)}`
      : (worker.lastError ?? '').split('\n')[0]!,
  ]);
  for (const text of table(rows, width)) line(text);
}
