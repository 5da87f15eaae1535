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
}

/** What a person may do to a task: change what is asked for, and put it elsewhere. */
export function addTaskChanges(task: Command, context: CliContext): void {
  const by = personName(context.env);

  task
    .command('edit <number>')
    .description('change what is asked for; whoever works on it next sees it')
    .option('--title <text>', 'a new title')
    .option('--body <text>', 'a new description; criteria that are new in it are added')
    .option('--accept <text>', 'the acceptance criteria, all of them (repeatable)', collect)
    .option('--files <glob>', 'the files it may touch, all of them (repeatable)', collect)
    .option('--priority <0-4>', '0 is the most urgent', integer(0, 4))
    .option(...jsonOption)
    .addHelpText('after', '\nExamples:\n  tidemill task edit 7 --title "Add --json" --accept "list --json prints JSON"')
    .action((number: string, { json, ...edit }: Json & EditOptions) => {
      if (Object.keys(edit).length === 0)
        throw new AppError('bad_input', 'nothing to change was named', {
          hint: 'Name a --title, --body, --accept, --files or --priority.',
        });
      return steer(context, { json }, (api, project) => api.editTask({ project, task: number, by, ...edit }));
    });

  task
    .command('note <number> <text>')
    .description('say something to whoever works on a task next')
    .option(...jsonOption)
    .action((number: string, text: string, options: Json) =>
      steer(context, options, (api, project) => api.noteTask({ project, task: number, by, text })),
    );

  task
    .command('move <number> <stage>')
    .description('put a task into another stage, where its pipeline lets a person')
    .option('--note <text>', 'what should be different, or the answer to what it asks')
    .option(...jsonOption)
    .addHelpText('after', '\nExamples:\n  tidemill task move 7 plan\n  tidemill task move 7 cancelled')
    .action((number: string, to: string, { json, note }: Json & { note?: string }) =>
      steer(context, { json }, (api, project) => api.moveTask({ project, task: number, by, to, note })),
    );

  task
    .command('after <number> [others...]')
    .description('let a task wait for exactly these others')
    .option('--none', 'for no others')
    .option(...jsonOption)
    .addHelpText('after', '\nExamples:\n  tidemill task after 7 3 4\n  tidemill task after 7 --none')
    .action((number: string, others: string[], options: Json & { none?: boolean }) => {
      if (others.length === 0 && !options.none) {
        throw new AppError('bad_input', 'no tasks to wait for were named', {
          hint: 'Name their numbers, or --none to wait for nothing.',
        });
      }
      const after = others.flatMap((other) => collectNumbers(other));
      return steer(context, options, (api, project) => api.setDependencies({ project, task: number, after }));
    });
}

/** Yes, no, again, never. */
export function addTaskDecisions(task: Command, context: CliContext): void {
  task
    .command('cancel <numbers...>')
    .description('stop work on tasks for good; what was done is kept as a snapshot')
    .option(...jsonOption)
    .action((numbers: string[], options: Json) =>
      each(context, numbers, 'cancel', options, (api, ids) => api.cancelTask(ids)),
    );

  task
    .command('retry <numbers...>')
    .description('set blocked, asking or cancelled tasks to work again')
    .option('--note <text>', 'what the agent should know; the answer to its questions')
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
    .description('say yes where tasks ask a person: a plan, an escalated review')
    .option('--note <text>', 'a remark for the record')
    .option(...jsonOption)
    .action((numbers: string[], { json, note }: Json & { note?: string }) =>
      each(context, numbers, 'approve', { json, note }, (api, ids) => api.approveTask({ ...ids, note })),
    );

  task
    .command('reject <number>')
    .description('say no, and what should be different')
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
    else context.terminal.line(told(summary));
  });

const told = ({ number, title, stage }: TaskSummary) => `#${number} ${oneLine(title)}: ${stage}`;

/** One task by its own request, several by one for all. */
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
    throw new AppError('bad_input', '--note and --stage are for one task', { hint: 'Name one number with them.' });
  const tasks = numbers.flatMap((number) => collectNumbers(number));
  await withProject(context, async (api, project) => {
    const result = await api.bulkTasks({ project: project.id, operation, tasks, by: personName(context.env) });
    if (result.refused.length > 0) context.setExitCode(EXIT.badInput);
    if (json) return context.terminal.json(result);
    for (const summary of result.done) context.terminal.line(told(summary));
    for (const { number, message, hint } of result.refused)
      context.terminal.err.write(`tidemill: #${number}: ${oneLine([message, hint].filter(Boolean).join('; '))}\n`);
  });
}
