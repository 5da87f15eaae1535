import type { Api, Project, QuestionView } from '@tidemill/contract';
import { AppError } from '@tidemill/contract';
import type { Command } from 'commander';
import { assetDir } from '../assets.ts';
import { loadCatalogue } from '../questions/catalogue.ts';
import { answerInTurn } from './answer-prompt.ts';
import { type CliContext, integer, type Json, jsonOption, withProject } from './context.ts';
import { questionLines } from './question-view.ts';
import { dateAndTime, elapsed, oneLine, table } from './terminal.ts';

/** Commands about questions to a person. */
export function addQuestions(program: Command, context: CliContext): void {
  const questions = program
    .command('questions')
    .description('list open questions, the most urgent first')
    .option('--all', 'include answered and withdrawn questions')
    .option('--task <number>', 'only questions about this task')
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  tidemill questions\n  tidemill questions show Q7.1\n  tidemill answer Q7.1 "Use the v2 API"',
    )
    .action((options: ListOptions) => list(context, options));

  questions
    .command('show <question>')
    .description('show a question with its options and the change it is about')
    .option(...jsonOption)
    .action((question: string, _: Json, command: Command) =>
      show(context, question, command.optsWithGlobals<Json>().json),
    );

  questions
    .command('catalogue')
    .description('list the questions that Tidemill asks on its own, active and planned')
    .option(...jsonOption)
    .action((_: Json, command: Command) => catalogue(context, command.optsWithGlobals<Json>().json));

  addAnswer(program, context);
  addPreferences(program, context);
}

interface ListOptions extends Json {
  all?: boolean;
  task?: string;
}

async function list(context: CliContext, { all = false, task, json }: ListOptions): Promise<void> {
  const { terminal } = context;
  await withProject(context, async (api, project) => {
    const found = await api.questions({ project: project.id, all, ...(task === undefined ? {} : { task }) });
    if (json) return terminal.json(found);
    if (found.length === 0) return terminal.line(all ? 'No questions yet.' : 'No open questions.');
    const rows = found.map((question) => [
      question.ref,
      question.holds && question.status === 'open' ? 'blocks work' : question.type,
      question.status === 'open' ? elapsed(Math.max(0, Date.now() - question.askedAt)) : question.status,
      oneLine(question.text),
    ]);
    for (const line of table(rows, terminal.width)) terminal.line(line);
    const first = found.find(({ status }) => status === 'open');
    if (first) terminal.line(`\ntidemill questions show ${first.ref}\n${first.command}`);
  });
}

async function show({ terminal, ...context }: CliContext, name: string, json?: boolean): Promise<void> {
  await withProject({ terminal, ...context }, async (api, project) => {
    const { question, diff } = await api.question({ project: project.id, question: name });
    if (json) return terminal.json({ question, diff });
    for (const line of questionLines(question, terminal)) terminal.line(line);
    if (diff.trim() === '') return;
    terminal.line();
    terminal.line(terminal.paint('bold', 'The change so far'));
    for (const line of diff.trimEnd().split('\n')) terminal.line(`  ${oneLine(line) === '' ? '' : harmlessDiff(line)}`);
  });
}

/** Keeps the indentation of a diff line and removes control characters. */
const harmlessDiff = (line: string) => {
  const indent = /^[+\- ]?[ \t]*/.exec(line)?.[0].replaceAll('\t', '    ') ?? '';
  return `${indent}${oneLine(line.slice(/^[+\- ]?[ \t]*/.exec(line)?.[0].length ?? 0))}`;
};

async function catalogue(context: CliContext, json?: boolean): Promise<void> {
  const { terminal } = context;
  await withProject(context, async (_api, { root }) => {
    const { lines } = loadCatalogue({ root, builtinDir: assetDir('prompts/questions') });
    if (json) return terminal.json(lines);
    const rows = lines.map(({ trigger, state, since, types, file }) => [
      trigger,
      types.join(', '),
      since === null ? state : `${state} (${since})`,
      file,
    ]);
    for (const line of table(rows, terminal.width)) terminal.line(line);
  });
}

interface AnswerOptions extends Json {
  option?: number;
  default?: boolean;
  allDefaults?: boolean;
}

function addAnswer(program: Command, context: CliContext): void {
  program
    .command('answer [question] [text...]')
    .description('answer a question; without arguments on a terminal, answer all open ones in turn')
    .option('--option <number>', 'choose one of its options', integer(1, 20))
    .option('--default', 'choose its default')
    .option('--all-defaults', 'answer every open question that has a default with it')
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  tidemill answer Q7.1 "Use the v2 API"\n  tidemill answer Q7.1 --option 2\n  tidemill answer --all-defaults',
    )
    .action((name: string | undefined, words: string[], options: AnswerOptions) =>
      answer(context, name, words.length > 0 ? words.join(' ') : undefined, options),
    );
}

async function answer(context: CliContext, name: string | undefined, text: string | undefined, options: AnswerOptions) {
  const { terminal } = context;
  const hasAnswer = text !== undefined || options.option !== undefined || options.default === true;
  await withProject(context, async (api, project) => {
    if (options.allDefaults) return takeDefaults(context, api, project, options.json);
    if (name === undefined || !hasAnswer) {
      if (!terminal.isLive || process.stdin.isTTY !== true || options.json) throw noAnswer(name);
      return answerInTurn(api, project, terminal, name);
    }
    const { option, default: useDefault = false, json } = options;
    const given = { text, option, useDefault };
    const answered = await api.answerQuestion({ project: project.id, question: name, ...given });
    if (json) terminal.json(answered);
    else terminal.line(answeredLine(answered));
  });
}

const noAnswer = (name: string | undefined) =>
  new AppError('bad_input', name === undefined ? 'no question was named' : 'no answer was given', {
    hint: `tidemill answer ${name ?? 'Q7.1'} "…", --option 1, or --default; \`tidemill questions\` lists open questions.`,
  });

async function takeDefaults({ terminal }: CliContext, api: Api, { id: project }: Project, json?: boolean) {
  const { answered, left } = await api.answerDefaults({ project });
  if (json) return terminal.json({ answered, left });
  for (const question of answered) terminal.line(answeredLine(question));
  if (left.length > 0) terminal.line(`Still open, no default: ${left.map(({ ref }) => ref).join(', ')}`);
  if (answered.length + left.length === 0) terminal.line('No open questions.');
}

function answeredLine({ ref, answer: given, task }: QuestionView): string {
  const next = task ? `; #${task.number} is in ${task.stage}` : '';
  return `${ref} answered: ${oneLine(given?.text ?? '')}${next}`;
}

function addPreferences(program: Command, context: CliContext): void {
  const preferences = program
    .command('preferences')
    .description('list learned answers, which Tidemill reuses')
    .option('--all', 'include answers seen once and revoked ones')
    .option(...jsonOption)
    .action((options: Json & { all?: boolean }) =>
      withProject(context, async (api, project) => {
        const { terminal } = context;
        const found = await api.preferences({ project: project.id, all: options.all ?? false });
        if (options.json) return terminal.json(found);
        if (found.length === 0) return terminal.line('No learned answers yet.');
        const rows = found.map(({ id, isActive, revokedBy, answer: said, text, learnedAt }) => [
          id.slice(-8),
          isActive ? 'used' : revokedBy ? 'revoked' : 'seen once',
          dateAndTime(learnedAt),
          `${oneLine(text)} → ${oneLine(said)}`,
        ]);
        for (const line of table(rows, terminal.width)) terminal.line(line);
        terminal.line(`\ntidemill preferences revoke ${found[0]!.id.slice(-8)}`);
      }),
    );

  preferences
    .command('revoke <id>')
    .description('stop reusing an answer; you will be asked again')
    .option(...jsonOption)
    .action((id: string, _: Json, command: Command) =>
      withProject(context, async (api, project) => {
        const revoked = await api.revokePreference({ project: project.id, preference: id });
        if (command.optsWithGlobals<Json>().json) context.terminal.json(revoked);
        else context.terminal.line(`You will be asked again: ${oneLine(revoked.text)}`);
      }),
    );
}
