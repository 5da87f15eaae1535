import { text as textOf } from 'node:stream/consumers';
import { AppError, type CallOptions, type FeedbackDetail, type FeedbackItem, plainText } from '@tidemill/contract';
import type { Command } from 'commander';
import { type CliContext, type Json, jsonOption, withProject } from './context.ts';
import { refuseMistyped } from './mistyped.ts';
import { oneKey } from './once.ts';
import { personName } from './person.ts';
import { dateAndTime, oneLine, type Terminal, table } from './terminal.ts';
import { textFile } from './text-file.ts';

/** More cannot be valid feedback, so it is not read. */
const MOST_BYTES = 1_000_000;

interface GiveOptions extends Json {
  from?: string;
}

export function addFeedback(program: Command, context: CliContext): void {
  const feedback = program
    .command('feedback [text]')
    .description('say what is wrong, missing or unclear; an analyst files it')
    .option('--from <file>', 'read the text from a file; - reads standard input')
    .option(...jsonOption)
    .addHelpText(
      'after',
      `
An analyst files it as a bug, a feature, a change or a question. If it is vague you are asked once, and no task exists
until you answer (tidemill answer).

Examples:
  tidemill feedback "Totals are wrong when the list is empty"
  tidemill feedback --from notes.md
  tidemill feedback list`,
    )
    .action((text: string | undefined, options: GiveOptions) => {
      refuseMistyped(text, feedback);
      return give(context, text, options);
    });

  feedback
    .command('list')
    .description('list all feedback and what became of it')
    .option('--open', 'only what is not settled')
    .option(...jsonOption)
    .action((options: Json & { open?: boolean }, command: Command) => list(context, merged(command, options)));

  feedback
    .command('show <number>')
    .description('show a piece of feedback, what was asked about it, and its task')
    .option(...jsonOption)
    .action((number: string, options: Json, command: Command) =>
      withProject(context, async (api, project) => {
        const detail = await api.feedback({ project: project.id, feedback: number });
        if (merged(command, options).json) context.terminal.json(detail);
        else show(context.terminal, detail);
      }),
    );

  feedback
    .command('analyse <number>')
    .description('have feedback analysed that failed, or that waits because routing is off')
    .option(...jsonOption)
    .action((number: string, options: Json, command: Command) =>
      withProject(context, async (api, project) => {
        const by = personName(context.env);
        const item = await api.analyseFeedback({ project: project.id, feedback: number, by });
        if (merged(command, options).json) context.terminal.json(item);
        else context.terminal.line(`F${item.number}: ${stateOf(item)}`);
      }),
    );

  feedback
    .command('dismiss <number>')
    .description('dismiss feedback: nothing is made of it')
    .option('--why <text>', 'the reason')
    .option(...jsonOption)
    .action((number: string, options: Json & { why?: string }, command: Command) =>
      withProject(context, async (api, project) => {
        const by = personName(context.env);
        const item = await api.dismissFeedback({ project: project.id, feedback: number, by, why: options.why });
        if (merged(command, options).json) context.terminal.json(item);
        else context.terminal.line(`F${item.number} dismissed.`);
      }),
    );
}

/** `--json` belongs to the parent command too, which takes it first. */
const merged = <T extends Json>(command: Command, options: T): T => ({ ...options, ...command.optsWithGlobals<T>() });

async function give(context: CliContext, given: string | undefined, { from, json }: GiveOptions): Promise<void> {
  if (given !== undefined && from !== undefined)
    throw new AppError('bad_input', 'the text is given twice', { hint: 'Give a text or --from, not both.' });
  const text = from === undefined ? given : await read(context, from);
  if (text === undefined || text.trim() === '')
    throw new AppError('bad_input', 'feedback needs a text', {
      hint: 'tidemill feedback "What you noticed, and what you expected"',
    });
  const { key, retried } = oneKey();
  await retried(() => send(context, text, json, key));
}

function send(context: CliContext, text: string, json: boolean | undefined, key: CallOptions): Promise<void> {
  return withProject(context, async (api, known, daemon) => {
    const project = await api.registerProject({ root: known.root });
    const item = await api.giveFeedback({ project: project.id, text, by: personName(context.env) }, undefined, key);
    if (json) return context.terminal.json(item);
    context.terminal.line(`F${item.number} noted: ${oneLine(item.text).slice(0, 200)}`);
    const isOff = project.rules.routing?.['feedback.given'] === 'off';
    const next = isOff
      ? `Nothing analyses it automatically. Start it with: tidemill feedback analyse ${item.number}`
      : daemon
        ? `An analyst reads it. See: tidemill feedback show ${item.number}`
        : 'An analyst reads it when Tidemill runs: tidemill up';
    context.terminal.line(context.terminal.paint('dim', next));
  });
}

const read = (context: CliContext, from: string): Promise<string> =>
  from === '-'
    ? textOf(process.stdin)
    : textFile(context, from, {
        bytes: MOST_BYTES,
        what: 'feedback, which has at most 20,000 characters',
        hint: 'Name the files instead of pasting them.',
      });

async function list(context: CliContext, { open: isOpen = false, json }: Json & { open?: boolean }): Promise<void> {
  await withProject(context, async (api, project) => {
    const items = await api.feedbackList({ project: project.id, open: isOpen });
    const { terminal } = context;
    if (json) return terminal.json(items);
    if (items.length === 0) return terminal.line('No feedback. Give some: tidemill feedback "What you noticed"');
    const rows = items.map((item) => [`F${item.number}`, stateOf(item), oneLine(item.analysis?.title ?? item.text)]);
    for (const line of table(rows, terminal.width)) terminal.line(line);
  });
}

/** What became of it, in a few words. */
function stateOf({ status, analysis, taskNumber, jobId }: FeedbackItem): string {
  if (status === 'filed') return taskNumber === null ? 'answered' : `${analysis?.kind ?? 'task'} #${taskNumber}`;
  if (status === 'asking') return 'waits for you';
  if (status === 'open') return jobId === null ? 'new' : 'being analysed';
  return status;
}

function show(terminal: Terminal, { feedback, questions, task }: FeedbackDetail): void {
  const { number, text, by, at, analysis, why, linkedTask, linkedSpec } = feedback;
  terminal.line(terminal.paint('bold', `F${number}  ${stateOf(feedback)}`));
  terminal.line(terminal.paint('dim', `by ${oneLine(by.name)}, ${dateAndTime(at)}`));
  terminal.line(plainText(text));
  if (why) terminal.line(`\n${feedback.status === 'failed' ? 'Failed' : 'Dismissed'}: ${oneLine(why)}`);
  for (const { ref, text: asked, answer, command } of questions) {
    terminal.line(`\n${ref}  ${oneLine(asked)}`);
    terminal.line(answer ? `  ${oneLine(answer.by.name)}: ${oneLine(answer.text)}` : `  ${command}`);
  }
  if (analysis) terminal.line(`\nFiled as ${analysis.kind}: ${oneLine(analysis.title)}`);
  if (linkedTask !== null) terminal.line(`About #${linkedTask}`);
  if (linkedSpec !== null) terminal.line(`About specification S${linkedSpec}`);
  if (analysis?.answer) terminal.line(plainText(analysis.answer));
  if (task) terminal.line(`Task #${task.number} (${task.stage}): ${oneLine(task.title)}`);
}
