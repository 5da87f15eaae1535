import {
  AppError,
  AUTONOMY_PRESETS,
  AutonomyPreset,
  type ImportedTask,
  ImportedTasks,
  type NewTask,
  TaskKind,
  type TaskSummary,
} from '@tidemill/contract';
import { criteriaOf, judgedBy } from '@tidemill/core';
import { type Command, Option } from 'commander';
import { YamlFile } from '../config/document.ts';
import { type CliContext, collect, collectNumbers, integer, type Json, jsonOption, withProject } from './context.ts';
import { oneKey } from './once.ts';
import { addTaskChanges, addTaskDecisions } from './task-steer.ts';
import { addTaskDiff, showTask } from './task-view.ts';
import { table } from './terminal.ts';
import { textFile } from './text-file.ts';

interface AddOptions extends Json {
  body?: string;
  accept?: string[];
  after?: number[];
  priority?: number;
  files?: string[];
  pipeline?: string;
  kind?: NewTask['kind'];
  autonomy?: AutonomyPreset;
  repairs?: string[];
  from?: string;
}

interface ListOptions extends Json {
  stage?: string[];
  search?: string;
}

export function addTaskCommands(program: Command, context: CliContext): void {
  const task = program.command('task').description('add, show and manage tasks');

  task
    .command('add [title]')
    .description('add a task, or many from a file')
    .option('--body <text>', 'description; - [ ] lines in it become acceptance criteria')
    .option('--accept <text>', 'an acceptance criterion (repeatable)', collect)
    .option('--after <numbers>', 'tasks that must be done first (repeatable, or 3,4)', collectNumbers)
    .option('--priority <0-4>', '0 is the most urgent (default: 2)', integer(0, 4))
    .option('--files <glob>', 'files the task may touch; tasks that overlap take turns (repeatable)', collect)
    .option('--pipeline <name>', 'feature, bug, quick or one of your own')
    .addOption(new Option('--kind <kind>', 'what kind of work it is').choices(TaskKind.options))
    .addOption(
      new Option('--autonomy <preset>', 'what its agents may decide without you').choices(AutonomyPreset.options),
    )
    .option(
      '--repairs <gate>',
      'a gate that fails on the target branch and that this task repairs (repeatable)',
      collect,
    )
    .option('--from <file>', 'a YAML list of tasks; each has a title, and a key if other tasks wait for it')
    .option(...jsonOption)
    .addHelpText(
      'after',
      `
Examples:
  tidemill task add "Add a --json flag" --accept "list --json prints JSON" --files "src/cli/**"
  tidemill task add "Release notes" --after 3,4 --priority 3
  tidemill task add --from tasks.yaml

A file of tasks:
  - { key: parser, title: Write the parser, accept: [It parses the samples] }
  - { title: Use the parser, after: [parser, 12] }`,
    )
    .action((title: string | undefined, options: AddOptions) => add(context, title, options));

  task
    .command('list')
    .description('list all tasks, or those in some stages')
    .option('--stage <names>', 'only these stages (repeatable, or a,b)', collect)
    .option('--search <words>', 'only tasks with all of these words in the title, or this number')
    .option(...jsonOption)
    .addHelpText('after', '\nExamples:\n  tidemill task list\n  tidemill task list --stage blocked,needs_info --json')
    .action((options: ListOptions) => list(context, options));

  task
    .command('show <number>')
    .description('show everything about a task')
    .option(...jsonOption)
    .action((number: string, options: Json) =>
      withProject(context, async (api, project) => {
        const detail = await api.task({ project: project.id, task: number });
        if (options.json) context.terminal.json(detail);
        else showTask(detail, context.terminal);
      }),
    );

  addTaskDiff(task, context);
  addTaskChanges(task, context);
  addTaskDecisions(task, context);
}

async function add(context: CliContext, title: string | undefined, options: AddOptions): Promise<void> {
  const { json, from, autonomy, ...rest } = options;
  const given = { ...rest, ...(autonomy === undefined ? {} : { hilConfig: autonomy }) };
  const { terminal } = context;
  if (from !== undefined) return addFrom(context, from, title !== undefined || Object.keys(given).length > 0, json);
  if (title === undefined) {
    throw new AppError('bad_input', 'a task needs a title', { hint: 'tidemill task add "What should be done"' });
  }
  const { key, retried } = oneKey();
  await retried(() =>
    withProject(context, async (api, known) => {
      // Without a daemon, registering reads the settings again in case they changed.
      const project = await api.registerProject({ root: known.root });
      const task = await api.addTask({ project: project.id, title, ...given }, undefined, key);
      if (json) terminal.json(task);
      else {
        terminal.line(`#${task.number} added to ${task.pipeline}: ${task.title}${dependencies(task)}`);
        const criteria = criteriaOf(given.body ?? '', given.accept ?? []);
        const hilConfig = autonomy === undefined ? null : AUTONOMY_PRESETS[autonomy];
        const by = judgedBy(project.rules, { ...task, body: given.body ?? '', criteria, hilConfig });
        if (by in WITHOUT_CRITERIA) terminal.line(terminal.paint('dim', WITHOUT_CRITERIA[by as 'asked' | 'derived']));
      }
    }),
  );
}

const WITHOUT_CRITERIA = {
  asked:
    'It has no acceptance criteria: after the plan, before anything is built, you are asked for them (or use --accept).',
  derived:
    'It has no acceptance criteria: the reviewer derives them from the title and the description (or use --accept).',
};

const dependencies = ({ after }: TaskSummary) =>
  after.length > 0 ? `, after ${after.map((number) => `#${number}`).join(', ')}` : '';

async function addFrom(context: CliContext, name: string, hasMore: boolean, json?: boolean): Promise<void> {
  if (hasMore) {
    throw new AppError('bad_input', '--from reads everything from the file', {
      hint: 'Remove the title and the other options.',
    });
  }
  const file = readTasks(name, await textFile(context, name));
  const { tasks } = file;
  const { key, retried } = oneKey();
  await retried(() =>
    withProject(context, async (api, known) => {
      const project = await api.registerProject({ root: known.root });
      const result = await api.importTasks({ project: project.id, tasks }, undefined, key).catch(file.locate);
      if (json) context.terminal.json(result);
      else
        context.terminal.line(
          `${result.created === 1 ? '1 task' : `${result.created} tasks`} added: #${result.first} to #${result.last}`,
        );
    }),
  );
}

function readTasks(name: string, text: string): TaskFile {
  const yaml = new YamlFile(name, text);
  return {
    tasks: yaml.parse(ImportedTasks),
    locate(error: unknown): never {
      const [, number] = (error instanceof AppError && /^task (\d+) /.exec(error.message)) || [];
      if (!(error instanceof AppError) || number === undefined) throw error;
      const message = `${name}:${yaml.lineOf([Number(number) - 1])}: ${error.message}`;
      throw new AppError(error.code, message, { hint: error.hint, cause: error });
    },
  };
}

interface TaskFile {
  tasks: ImportedTask[];
  /** Puts the line before a complaint about one of the tasks. */
  locate(error: unknown): never;
}

async function list(context: CliContext, options: ListOptions): Promise<void> {
  const { terminal } = context;
  await withProject(context, async (api, project) => {
    const { search } = options;
    const stages = options.stage?.flatMap((each) => each.split(','));
    const tasks: TaskSummary[] = [];
    for (let page = [] as TaskSummary[], afterNumber = 0; ; afterNumber = page.at(-1)!.number) {
      page = await api.tasks({ project: project.id, afterNumber, limit: 1000, search, ...(stages ? { stages } : {}) });
      tasks.push(...page);
      if (page.length < 1000) break;
    }
    if (options.json) return terminal.json(tasks);
    if (tasks.length === 0)
      return terminal.line(
        stages || search ? 'No matching tasks.' : 'No tasks yet. Add one with tidemill task add "…"',
      );
    const rows = tasks.map((task) => [
      `#${task.number}`,
      `P${task.priority}`,
      task.stage,
      task.worker ?? '',
      task.title,
    ]);
    for (const line of table(rows, terminal.width)) terminal.line(line);
  });
}
