import { type PatternView, TraceLevel, TraceSource, TraceType, type TraceView } from '@tidemill/contract';
import { type Command, Option } from 'commander';
import { type CliContext, integer, type Json, jsonOption, withProject } from './context.ts';
import { personName } from './person.ts';
import { dateAndTime, oneLine, type Terminal, table } from './terminal.ts';

interface ListOptions extends Json {
  type?: TraceType;
  source?: TraceSource;
  task?: string;
  key?: string;
  level: TraceLevel;
  limit: number;
  cursor?: string;
}

/** Commands about what happened that can be learned from. */
export function addTraces(program: Command, context: CliContext): void {
  const { terminal } = context;
  const traces = program
    .command('traces')
    .description('what happened that can be learned from: corrections, violations, decisions, failures')
    .addHelpText(
      'after',
      `
Examples:
  tidemill traces                          the newest
  tidemill traces tested without evidence  the best matches
  tidemill traces --type correction --task 12
  tidemill traces show trace_0mf2k1x9z000000042
  tidemill traces add --type correction "The API takes UTC" --correct "Convert dates to UTC first"
  tidemill traces patterns                 what happened again and again`,
    );
  traces
    .command('list [words...]', { isDefault: true })
    .description('the best matches of the words, or the newest')
    .addOption(new Option('--type <type>', 'only this type').choices(TraceType.options))
    .addOption(new Option('--source <source>', 'only those noticed there').choices(TraceSource.options))
    .option('--task <number>', 'only those of a task')
    .option('--key <key>', 'only those of the same occurrence')
    .addOption(new Option('--level <level>', 'how much of each').choices(TraceLevel.options).default('summary'))
    .option('--limit <number>', 'how many at most', integer(1, 200), 20)
    .option('--cursor <cursor>', 'continue behind an earlier list')
    .option(...jsonOption)
    .action((words: string[], options: ListOptions) => list(context, words, options));

  traces
    .command('show <trace>')
    .description('show one trace')
    .option(...jsonOption)
    .action((trace: string, options: Json) =>
      withProject(context, async (api, project) => {
        const view = await api.trace({ project: project.id, trace });
        if (options.json) return terminal.json(view);
        for (const line of wholeTrace(view, terminal)) terminal.line(line);
      }),
    );

  traces
    .command('add <text>')
    .description('record a correction, a decision or a note')
    .addOption(new Option('--type <type>', 'what it is').choices(TraceType.options).default('note'))
    .option('--correct <text>', 'what would have been right')
    .option('--why <text>', 'the reason')
    .option('--task <number>', 'the task it is about')
    .option('--file <path...>', 'files it is about')
    .option('--key <name>', 'a short name of what repeats, so that it is counted')
    .option(...jsonOption)
    .action((text: string, options: AddOptions) =>
      withProject(context, async (api, project) => {
        const { json, type, correct, why, task, file, key } = options;
        const view = await api.storeTrace({
          ...{ project: project.id, by: personName(context.env), what: text, files: file ?? [] },
          ...{ type, correct, why, task, key },
        });
        if (json) terminal.json(view);
        else terminal.line(`Recorded as ${view.id}.`);
      }),
    );

  traces
    .command('patterns')
    .description('what happened again and again, the most frequent first')
    .option('--least <number>', 'how often at least', integer(2, 1000), 3)
    .addOption(new Option('--type <type>', 'only this type').choices(TraceType.options))
    .option(...jsonOption)
    .action((options: Json & { least: number; type?: TraceType }) =>
      withProject(context, async (api, project) => {
        const { json, least, type } = options;
        const found = await api.patterns({ project: project.id, least, ...(type ? { type } : {}) });
        if (json) return terminal.json(found);
        if (found.length === 0) return terminal.line(`Nothing of this kind happened ${least} times.`);
        for (const line of found.flatMap((pattern) => patternLines(pattern, terminal))) terminal.line(line);
      }),
    );
}

interface AddOptions extends Json {
  type: TraceType;
  correct?: string;
  why?: string;
  task?: string;
  file?: string[];
  key?: string;
}

async function list(context: CliContext, words: string[], options: ListOptions): Promise<void> {
  const { terminal } = context;
  const { json, ...filters } = options;
  await withProject(context, async (api, project) => {
    const text = words.join(' ');
    const page = await api.traces({ project: project.id, ...filters, ...(text ? { words: text } : {}) });
    if (json) return terminal.json(page);
    if (page.traces.length === 0)
      return terminal.line(text ? 'No trace has these words.' : 'There are no traces of this kind yet.');
    for (const trace of page.traces) for (const line of traceLines(trace, terminal)) terminal.line(line);
    if (page.cursor) terminal.line(terminal.paint('dim', `More: --cursor ${page.cursor}`));
  });
}

function traceLines(trace: TraceView, terminal: Terminal): string[] {
  const { id, type, source, at, task, agent, what, why } = trace;
  const facts = [dateAndTime(at), `${type} (${source})`, task === null ? '' : `#${task}`, agent ?? '', id];
  const head = facts.filter((fact) => fact !== '').join('  ');
  const said = [what, why].flatMap((text) => (text ? [`  ${oneLine(text)}`] : []));
  return [terminal.paint('dim', head), ...said];
}

function wholeTrace(trace: TraceView, { width }: Terminal): string[] {
  const { id, type, source, at, task, agent, key, files, by, runId, what, correct, why } = trace;
  const rows = [
    ['trace', id],
    ['when', dateAndTime(at)],
    ['type', `${type}, noticed by ${source}`],
    ['by', by?.name ?? ''],
    ['task', task === null ? '' : `#${task}`],
    ['agent', agent ?? ''],
    ['run', runId ?? ''],
    ['key', key ?? ''],
    ['files', files?.join(', ') ?? ''],
  ].filter(([, value]) => value !== '');
  const parts: [string, string | null | undefined][] = [
    ['What happened', what],
    ['What was right', correct],
    ['Why', why],
  ];
  const texts = parts.flatMap(([title, text]) => (text ? ['', `${title}:`, ...text.split('\n')] : []));
  return [...table(rows as string[][], width), ...texts];
}

function patternLines({ key, type, count, runs, suggests, lesson, lastAt, example }: PatternView, terminal: Terminal) {
  const times = `${count} times in ${runs === 1 ? 'one run' : `${runs} runs`}`;
  const becomes =
    lesson === null ? (suggests === 'nothing' ? '' : `; could become a ${suggests}`) : `; lesson ${lesson}`;
  return [
    terminal.paint('bold', `${key}  ${times}`),
    terminal.paint('dim', `  ${type}, last ${dateAndTime(lastAt)}${becomes}`),
    `  ${oneLine(example)}`,
  ];
}
