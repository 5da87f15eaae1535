import { type Api, AppError, type BulkOperation, type TaskSummary } from '@tidemill/contract';
import type { Command } from 'commander';
import { type CliContext, collect, collectNumbers, integer, type Json, jsonOption, withProject } from './context.ts';
import { EXIT } from './failure.ts';
import { personName } from './person.ts';
import { oneLine } from './terminal.ts';

interface EditOptions {
  title?: string;
  body?: string;
  accept?: string[];
  files?: string[];
  priority?: number;
  validate?: string;
}

/** Commands that edit a task, move it or change its dependencies. */
export function addTaskChanges(task: Command, context: CliContext): void {
  const by = personName(context.env);

  task
    .command('edit <number>')
    .description('change a task; the next agent sees the change')
    .option('--title <text>', 'new title')
    .option('--body <text>', 'new description; new - [ ] lines in it are added as acceptance criteria')
    .option('--accept <text>', 'replace the acceptance criteria (repeatable)', collect)
    .option('--files <glob>', 'replace the files it may touch (repeatable)', collect)
    .option('--priority <0-4>', '0 is the most urgent', integer(0, 4))
    .option('--validate <command>', 'replace the task\'s own gate, which came with its specification; "" removes it')
    .option(...jsonOption)
    .addHelpText('after', '\nExamples:\n  tidemill task edit 7 --title "Add --json" --accept "list --json prints JSON"')
    .action((number: string, { json, ...edit }: Json & EditOptions) => {
      if (Object.keys(edit).length === 0)
        throw new AppError('bad_input', 'no change given', {
          hint: 'Use --title, --body, --accept, --files, --priority or --validate.',
        });
      return steer(context, { json }, (api, project) => api.editTask({ project, task: number, by, ...edit }));
    });

  task
    .command('start <number>')
    .description('put a task first in the queue')
    .option('--worker <name>', 'only for this agent, such as agent-1')
    .option(...jsonOption)
    .action((number: string, { json, worker = null }: Json & { worker?: string | null }) =>
      start(context, { json }, { task: number, worker, by }),
    );

  task
    .command('note <number> <text>')
    .description('send a message to the next agent that works on a task')
    .option(...jsonOption)
    .action((number: string, text: string, options: Json) =>
      steer(context, options, (api, project) => api.noteTask({ project, task: number, by, text })),
    );

  task
    .command('move <number> <stage>')
    .description('move a task to another stage that its pipeline allows')
    .option('--note <text>', 'what should change, or the answer to its question')
    .option(...jsonOption)
    .addHelpText('after', '\nExamples:\n  tidemill task move 7 plan\n  tidemill task move 7 cancelled')
    .action((number: string, to: string, { json, note }: Json & { note?: string }) =>
      steer(context, { json }, (api, project) => api.moveTask({ project, task: number, by, to, note })),
    );

  task
    .command('after <number> [others...]')
    .description('replace the tasks that a task waits for')
    .option('--none', 'wait for no other task')
    .option('--not <number>', 'no longer wait for this task (repeatable)', collect)
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  tidemill task after 7 3 4\n  tidemill task after 7 --not 3\n  tidemill task after 7 --none',
    )
    .action((number: string, others: string[], options: Json & { none?: boolean; not?: string[] }) => {
      if (options.not && others.length === 0 && !options.none)
        return steer(context, options, (api, project) => dropAfter(api, project, number, options.not ?? []));
      if (others.length === 0 && !options.none) {
        throw new AppError('bad_input', 'no tasks to wait for given', {
          hint: 'Give task numbers, --not with one that it no longer waits for, or --none to wait for no task.',
        });
      }
      const after = others.flatMap((other) => collectNumbers(other));
      return steer(context, options, (api, project) => api.setDependencies({ project, task: number, after }));
    });
}

async function start(context: CliContext, { json }: Json, asked: { task: string; worker: string | null; by: string }) {
  const { terminal } = context;
  await withProject(context, async (api, project) => {
    const task = await api.startTask({ project: project.id, ...asked });
    if (json) return terminal.json(task);
    const { number, title, worker, unmet, after } = task;
    const { running } = await api.status({ project: project.id });
    const waits =
      unmet > 0 ? `waits for #${after.join(', #')}` : `is next${asked.worker ? ` for ${asked.worker}` : ''}`;
    terminal.line(`#${number} ${oneLine(title)}: ${worker ? `${worker} works on it` : waits}.`);
    if (!worker && !running) terminal.line('No daemon runs. `tidemill up` starts the work.');
  });
}

async function dropAfter(api: Api, project: string, number: string, not: string[]): Promise<TaskSummary> {
  const gone = not.flatMap((other) => collectNumbers(other));
  const { task } = await api.task({ project, task: number });
  const unknown = gone.filter((other) => !task.after.includes(other));
  if (unknown.length > 0)
    throw new AppError('bad_input', `#${task.number} does not wait for #${unknown.join(', #')}`, {
      hint: task.after.length > 0 ? `It waits for #${task.after.join(', #')}.` : 'It waits for no task.',
    });
  return api.setDependencies({ project, task: number, after: task.after.filter((other) => !gone.includes(other)) });
}

/** Cancel, retry, approve, reject. */
export function addTaskDecisions(task: Command, context: CliContext): void {
  task
    .command('cancel <numbers...>')
    .description('cancel tasks; work so far is kept as a snapshot')
    .option(...jsonOption)
    .action((numbers: string[], options: Json) =>
      each(context, numbers, 'cancel', options, (api, ids) => api.cancelTask(ids)),
    );

  task
    .command('retry <numbers...>')
    .description('restart blocked, waiting or cancelled tasks')
    .option('--note <text>', 'what the agent should know, or the answer to its questions')
    .option('--stage <name>', 'the stage to start from')
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  tidemill task retry 7 --note "Use the v2 API"\n  tidemill task retry 7 --stage plan',
    )
    .action((numbers: string[], { json, ...rest }: Json & { note?: string; stage?: string }) =>
      each(context, numbers, 'retry', { json, ...rest }, (api, ids) => api.retryTask({ ...ids, ...rest })),
    );

  task
    .command('approve <numbers...>')
    .description('approve tasks that wait for a person: a plan, an escalated review')
    .option('--note <text>', 'a comment for the event log')
    .option(...jsonOption)
    .action((numbers: string[], { json, note }: Json & { note?: string }) =>
      each(context, numbers, 'approve', { json, note }, (api, ids) => api.approveTask({ ...ids, note })),
    );

  task
    .command('reject <number>')
    .description('request changes')
    .requiredOption('--note <text>', 'what is wrong; the agent reads it')
    .option(...jsonOption)
    .action((number: string, { json, note }: Json & { note: string }) =>
      steer(context, { json }, (api, project) => api.rejectTask({ project, task: number, note })),
    );
}

type Act = (api: Api, project: string) => Promise<TaskSummary>;

const steer = (context: CliContext, options: Json, act: Act) =>
  withProject(context, async (api, project) => {
    const summary = await act(api, project.id);
    if (options.json) context.terminal.json(summary);
    else context.terminal.line(taskLine(summary));
  });

const taskLine = ({ number, title, stage }: TaskSummary) => `#${number} ${oneLine(title)}: ${stage}`;

/** One task uses its own request; several use one bulk request. */
async function each(
  context: CliContext,
  numbers: string[],
  operation: BulkOperation,
  { json, ...rest }: Json & { note?: string; stage?: string },
  one: (api: Api, ids: { project: string; task: string }) => Promise<TaskSummary>,
): Promise<void> {
  const [only] = numbers;
  if (numbers.length === 1) return steer(context, { json }, (api, project) => one(api, { project, task: only! }));
  if (rest.note !== undefined || rest.stage !== undefined)
    throw new AppError('bad_input', '--note and --stage work with one task only', { hint: 'Give one task number.' });
  const tasks = numbers.flatMap((number) => collectNumbers(number));
  await withProject(context, async (api, project) => {
    const result = await api.bulkTasks({ project: project.id, operation, tasks, by: personName(context.env) });
    if (result.refused.length > 0) context.setExitCode(EXIT.badInput);
    if (json) return context.terminal.json(result);
    for (const summary of result.done) context.terminal.line(taskLine(summary));
    for (const { number, message, hint } of result.refused)
      context.terminal.err.write(`tidemill: #${number}: ${oneLine([message, hint].filter(Boolean).join('; '))}\n`);
  });
}
