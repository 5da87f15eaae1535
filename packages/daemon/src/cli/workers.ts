import type { Api, Project, WorkerOperation, WorkerView } from '@tidemill/contract';
import type { Command } from 'commander';
import { type CliContext, type Json, jsonOption, withProject } from './context.ts';
import { confirm, personName } from './person.ts';
import { elapsed, type Terminal, table } from './terminal.ts';

interface Sure extends Json {
  yes?: boolean;
  now?: boolean;
}

const STEERING: [verb: string, operation: WorkerOperation, description: string][] = [
  ['start', 'start', 'let a worker work'],
  ['pause', 'pause', 'it finishes to the checkpoint and takes nothing new'],
  ['resume', 'resume', 'let a paused or stopped worker work again'],
  ['stop', 'stop', 'end its agent and give its task back; work is kept'],
  ['restart', 'restart', 'stop it, forget what went wrong, and start it'],
  ['reset', 'reset', 'restart it with its figures and its session file from zero'],
];

export function addWorkers(program: Command, context: CliContext): void {
  const workers = program.command('workers').description('who works here, and how to steer them');
  workers
    .command('list', { isDefault: true })
    .description('all workers: what they do, their health, what they use')
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
    if (verb === 'pause') command.option('--now', 'stand still at once (SIGSTOP)');
    if (verb === 'restart' || verb === 'reset') command.option('--yes', 'do not ask');
    command.action((name: string, options: Sure) => steer(context, name, options.now ? 'freeze' : operation, options));
  }

  workers
    .command('add')
    .description('one more agent, until the daemon stops (at most 10)')
    .option(...jsonOption)
    .action((options: Json) =>
      withProject(context, async (api, project) => {
        const worker = await api.addWorker({ project: project.id });
        if (options.json) context.terminal.json(worker);
        else context.terminal.line(`${worker.name} is there.`);
      }),
    );
  workers
    .command('remove <name>')
    .description('one agent less, until the daemon stops; its work is kept')
    .option(...jsonOption)
    .action((name: string, options: Json) =>
      withProject(context, async (api, project) => {
        const answer = await api.removeWorker({ project: project.id, worker: name });
        if (options.json) context.terminal.json(answer);
        else context.terminal.line(`${answer.removed} is gone.`);
      }),
    );
  workers
    .command('reassign <task> [worker]')
    .description('take a task from whoever has it, and give it to a worker or back to all')
    .option(...jsonOption)
    .addHelpText('after', '\nExamples:\n  tidemill workers reassign 12\n  tidemill workers reassign 12 agent-2')
    .action((task: string, worker: string | undefined, options: Json) =>
      withProject(context, async (api, project) => {
        const by = personName(context.env);
        const summary = await api.reassignTask({ project: project.id, task, worker: worker ?? null, by });
        if (options.json) context.terminal.json(summary);
        else context.terminal.line(`#${summary.number} is ${worker ? `for ${worker}` : 'for any worker'} now.`);
      }),
    );
}

async function steer(context: CliContext, name: string, operation: WorkerOperation, options: Sure): Promise<void> {
  await withProject(context, async (api, project) => {
    if ((operation === 'restart' || operation === 'reset') && !(await mayEnd(context, api, project, name, options)))
      return;
    const by = personName(context.env);
    const changed = await api.steerWorkers({ project: project.id, worker: name, operation, by });
    if (options.json) context.terminal.json(changed);
    else show(changed, context.terminal);
  });
}

/** Whether a person agrees that the agent at work is ended. */
async function mayEnd(context: CliContext, api: Api, project: Project, name: string, { yes }: Sure): Promise<boolean> {
  const meant = (await api.workers({ project: project.id })).filter((each) => name === 'all' || each.name === name);
  const busy = meant.filter(({ task, role }) => task && (role === 'builder' || role === 'reviewer'));
  if (busy.length === 0) return true;
  const who = busy.map((each) => `${each.name}, at work on #${each.task!.number}`).join('; ');
  return confirm(context, `This stops ${who}. Work is kept.`, yes);
}

function show(workers: WorkerView[], { line, width }: Terminal): void {
  if (workers.length === 0) line('No workers yet: `tidemill up` brings them.');
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
