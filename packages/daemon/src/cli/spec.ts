import { type Api, AppError, type Project, type SpecSummary, TargetComplexity } from '@tidemill/contract';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type CliContext, integer, type Json, jsonOption, withProject } from './context.ts';
import { personName } from './person.ts';
import { addSpecFiles } from './spec-files.ts';
import { specLine, specLines } from './spec-view.ts';
import { oneLine, table } from './terminal.ts';
import { textFile } from './text-file.ts';

/** Runs one request about a specification and shows what it has become. */
type Request = (api: Api, project: Project) => Promise<SpecSummary>;

export function addSpec(program: Command, context: CliContext): void {
  const spec = program.command('spec').description('write, approve and follow specifications');
  const { terminal } = context;
  const by = personName(process.env);
  const change = (options: Json, request: Request) =>
    withProject(context, async (api, project) => {
      const summary = await request(api, project);
      if (options.json) terminal.json(summary);
      else terminal.line(specLine(summary));
    });

  addNew(spec, context, by);

  spec
    .command('list')
    .description('list all specifications, the newest first')
    .option(...jsonOption)
    .action((options: Json) =>
      withProject(context, async (api, project) => {
        const specs = await api.specs({ project: project.id });
        if (options.json) return terminal.json(specs);
        if (specs.length === 0) return terminal.line('No specifications yet. Request one with tidemill spec new "…"');
        const rows = specs.map(({ number, status, version, tasks, done, title }) => [
          `S${number}`,
          status,
          version === 0 ? '' : `v${version}`,
          tasks === 0 ? '' : `${done}/${tasks}`,
          oneLine(title),
        ]);
        for (const line of table(rows, terminal.width)) terminal.line(line);
      }),
    );

  spec
    .command('show <number>')
    .description('show a specification with its requirements and tasks')
    .option('--version <number>', 'an earlier version', integer(1, 10_000))
    .option('--document', 'show the document with its line numbers')
    .option(...jsonOption)
    .action((number: string, options: Json & { version?: number; document?: boolean }) =>
      withProject(context, async (api, project) => {
        const { version, document = false } = options;
        const detail = await api.spec({ project: project.id, spec: number, version });
        if (options.json) terminal.json(detail);
        else for (const line of specLines(detail, terminal, document)) terminal.line(line);
      }),
    );

  spec
    .command('diff <number>')
    .description('show what changed between two versions, by default the last two')
    .option('--from <version>', 'the earlier version', integer(1, 10_000))
    .option('--to <version>', 'the later version', integer(1, 10_000))
    .option(...jsonOption)
    .action((number: string, { json, ...options }: Json & { from?: number; to?: number }) =>
      withProject(context, async (api, project) => {
        const found = await api.specDiff({ project: project.id, spec: number, ...options });
        if (json) return terminal.json(found);
        for (const line of found.diff.trimEnd().split('\n')) terminal.line(line);
      }),
    );

  spec
    .command('approve <number>')
    .description('approve the current version: its tasks are created')
    .option('--version <number>', 'only if this is the current version', integer(1, 10_000))
    .option('--override', 'also with tasks that are not ready to be built')
    .option(...jsonOption)
    .action((number: string, options: Json & { version?: number; override?: boolean }) =>
      withProject(context, async (api, project) => {
        const { version, override = false } = options;
        const detail = await api.approveSpec({ project: project.id, spec: number, by, version, override });
        if (options.json) return terminal.json(detail);
        const numbers = detail.tasks.flatMap((task) => (task.number === null ? [] : [`#${task.number}`]));
        terminal.line(`S${detail.spec.number} approved: ${numbers.join(', ')}`);
      }),
    );

  addDecisions(spec, by, change);
  addSpecFiles(spec, context, by);
}

function addDecisions(spec: Command, by: string, change: (options: Json, request: Request) => Promise<void>): void {
  spec
    .command('revise <number>')
    .description('request changes; `spec show --document` has the line numbers')
    .requiredOption('--comment <line:text>', 'what to change, on a line or on all of it (repeatable)', comments)
    .option('--version <number>', 'only if this is the current version', integer(1, 10_000))
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  tidemill spec revise 3 --comment "12:Also for guests" --comment "Fewer tasks"')
    .action((number: string, options: Json & { comment: Comment[]; version?: number }) =>
      change(options, (api, project) =>
        api.reviseSpec({ project: project.id, spec: number, by, version: options.version, comments: options.comment }),
      ),
    );

  const decisions = [
    ['reject', 'reject a specification: no tasks are made of it', 'rejectSpec'],
    ['stop', 'stop the work on a specification; tasks that have not begun are held back', 'stopSpec'],
  ] as const;
  for (const [name, description, route] of decisions)
    spec
      .command(`${name} <number>`)
      .description(description)
      .option('--why <text>', 'the reason, for others to read')
      .option(...jsonOption)
      .action((number: string, options: Json & { why?: string }) =>
        change(options, (api, project) =>
          api[route]({ project: project.id, spec: number, by, ...(options.why ? { why: options.why } : {}) }),
        ),
      );

  spec
    .command('resume <number>')
    .description('continue a specification that was stopped or failed')
    .option(...jsonOption)
    .action((number: string, options: Json) =>
      change(options, (api, project) => api.resumeSpec({ project: project.id, spec: number, by })),
    );
}

interface NewOptions extends Json {
  idea?: number;
  file?: string;
  issue?: boolean;
  complexity?: TargetComplexity;
}

function addNew(spec: Command, context: CliContext, by: string): void {
  const { terminal } = context;
  spec
    .command('new [text]')
    .description('have an agent write a specification from a text, a file or an idea')
    .option('--idea <number>', 'an idea that has a brief', integer(1, 1_000_000))
    .option('--file <file>', 'a file with the text')
    .option('--issue', 'the text is an issue from elsewhere')
    .addOption(
      new Option('--complexity <size>', 'mvp: the smallest version that someone can use; full: everything').choices(
        TargetComplexity.options,
      ),
    )
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  tidemill spec new "Export reports as CSV"\n  tidemill spec new --file request.md\n  tidemill spec new --idea 2',
    )
    .action(async (given: string | undefined, options: NewOptions) => {
      const { idea, file, issue, complexity: targetComplexity } = options;
      const ways = [given, idea, file].filter((each) => each !== undefined);
      if (ways.length !== 1)
        throw new AppError('bad_input', 'give exactly one of a text, --file and --idea', {
          hint: 'tidemill spec new "What should be built"',
        });
      const text = file === undefined ? given : await textFile(context, file);
      const from = issue ? 'issue' : file === undefined ? 'text' : 'file';
      await withProject(context, async (api, known) => {
        const project = await api.registerProject({ root: known.root });
        const summary = await api.newSpec({ project: project.id, by, text, idea, from, targetComplexity });
        if (options.json) return terminal.json(summary);
        terminal.line(specLine(summary));
        terminal.line(terminal.paint('dim', `An agent writes it. \`tidemill spec show ${summary.number}\` shows it.`));
      });
    });
}

interface Comment {
  line: number;
  text: string;
}

/** `12:text` is about line 12, any other text about the whole document. */
function comments(value: string, list: Comment[] = []): Comment[] {
  const [, line = '0', text = ''] = /^(?:(\d{1,6}):)?([\s\S]*)$/.exec(value.trim()) ?? [];
  if (text.trim() === '') throw new InvalidArgumentError('It needs a text, such as "12:Also for guests".');
  return [...list, { line: Number(line), text: text.trim() }];
}
