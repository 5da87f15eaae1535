import { type Api, AppError, IdeaCorrection, type IdeaDetail, ideaRef, type Project } from '@tidemill/contract';
import type { Command } from 'commander';
import { type CliContext, type Json, jsonOption, withProject } from './context.ts';
import { EXIT } from './failure.ts';
import { followReply } from './idea-reply.ts';
import { ideaLines, ideaListLines } from './idea-view.ts';
import { refuseMistyped } from './mistyped.ts';
import { oneKey } from './once.ts';
import { personName } from './person.ts';
import { questionLines } from './question-view.ts';
import { textFile } from './text-file.ts';

interface SayOptions extends Json {
  title?: string;
  from?: string;
  wait?: boolean;
}

const EXAMPLES = `
Examples:
  tidemill idea "A tide table for harbours without a network"
  tidemill idea say 1 "Fishermen, on a phone, before sunrise"
  tidemill idea artifacts 1`;

/** Conversations about ideas. */
export function addIdea(program: Command, context: CliContext): void {
  const idea = program.command('idea').description('talk with an agent about ideas').addHelpText('after', EXAMPLES);
  idea
    .command('start [text]', { isDefault: true })
    .description('start a conversation about an idea and print the reply')
    .option('--title <text>', 'a name; by default the first sentence')
    .option('--from <file>', 'read the text from a file')
    .option('--no-wait', 'do not wait for the reply')
    .option(...jsonOption)
    .action((text: string | undefined, options: SayOptions) => {
      refuseMistyped(text, idea);
      return start(context, text, options);
    });

  idea
    .command('list')
    .description('list ideas, the last changed first')
    .option('--all', 'include archived ideas')
    .option(...jsonOption)
    .action((options: Json & { all?: boolean }) => list(context, options));
  idea
    .command('show <idea>')
    .description('show what is settled, open questions and the last messages')
    .option(...jsonOption)
    .action((ref: string, options: Json) => show(context, ref, options));
  idea
    .command('say <idea> [text]')
    .description('write a message and print the reply while it is written')
    .option('--from <file>', 'read the message from a file')
    .option('--no-wait', 'do not wait for the reply')
    .option(...jsonOption)
    .action((ref: string, text: string | undefined, options: SayOptions) => say(context, ref, text, options));
  for (const [to, does] of STEERING)
    idea
      .command(`${to} <idea>`)
      .description(does)
      .option(...jsonOption)
      .action((ref: string, options: Json) => steer(context, ref, to, options));
  idea
    .command('fork <idea>')
    .description('continue an idea as another one, with the same signals')
    .option('--title <text>', 'a name for the new idea')
    .option(...jsonOption)
    .action((ref: string, options: SayOptions) => fork(context, ref, options));
  idea
    .command('artifacts <idea>')
    .description('print the Markdown files of an idea')
    .option(...jsonOption)
    .action((ref: string, options: Json) => artifacts(context, ref, options));
  addSignals(idea, context);
}

const STEERING = [
  ['pause', 'ask for no more replies until it is resumed'],
  ['resume', 'continue an idea, or try a failed reply again'],
  ['archive', 'put an idea away and withdraw its questions'],
] as const;

function addSignals(idea: Command, context: CliContext): void {
  idea
    .command('correct <idea> <signal>')
    .description('correct or add a signal, as JSON; the agent keeps to it')
    .option(...jsonOption)
    .addHelpText(
      'after',
      `
Examples:
  tidemill idea correct 1 '{"kind":"artifact","type":"problem","summary":"Nobody knows the tide"}'
  tidemill idea correct 1 '{"kind":"risk","text":"Tide data costs money","severity":"high"}'
  tidemill idea correct 1 '{"kind":"confidence","value":0.4}'`,
    )
    .action((ref: string, signal: string, options: Json) =>
      changed(context, options, (api, project, by) =>
        api.correctIdea({ project: project.id, idea: ref, correction: correctionIn(signal), by }),
      ),
    );
  idea
    .command('remove <idea> <signal>')
    .description('remove a signal: the type of an artifact, or the id of a decision or a risk')
    .option(...jsonOption)
    .action((ref: string, key: string, options: Json) =>
      changed(context, options, (api, project, by) =>
        api.removeSignal({ project: project.id, idea: ref, kind: kindOf(key), key, by }),
      ),
    );
}

const kindOf = (key: string) =>
  key === 'confidence' ? key : key.startsWith('decision_') ? 'decision' : key.startsWith('risk_') ? 'risk' : 'artifact';

function correctionIn(text: string): IdeaCorrection {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch (error) {
    throw new AppError('bad_input', `the signal is not JSON: ${(error as Error).message}`, {
      hint: '`tidemill idea correct --help` shows examples.',
    });
  }
  const read = IdeaCorrection.safeParse(raw);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new AppError('bad_input', `the signal is not valid: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`, {
    hint: '`tidemill idea correct --help` shows examples.',
  });
}

async function textFor(context: CliContext, text: string | undefined, { from }: SayOptions): Promise<string> {
  if (text !== undefined && from === undefined) return text;
  if (text === undefined && from !== undefined) return textFile(context, from);
  throw new AppError('bad_input', 'give the text, or a file with --from', {
    hint: 'tidemill idea "What you have in mind"',
  });
}

async function start(context: CliContext, given: string | undefined, options: SayOptions): Promise<void> {
  const text = await textFor(context, given, options);
  await withProject(context, async (api, project) => {
    const { title } = options;
    const by = personName(context.env);
    const { key, retried } = oneKey();
    const input = { project: project.id, text, by, ...(title ? { title } : {}) };
    const begun = await retried(() => api.createIdea(input, undefined, key));
    if (!options.json) context.terminal.line(`${ideaRef(begun.idea.number)} ${begun.idea.title}\n`);
    await answered(context, api, project, begun, options);
  });
}

async function say(context: CliContext, ref: string, given: string | undefined, options: SayOptions): Promise<void> {
  const text = await textFor(context, given, options);
  await withProject(context, async (api, project) => {
    const by = personName(context.env);
    const { key, retried } = oneKey();
    const begun = await retried(() => api.sayToIdea({ project: project.id, idea: ref, text, by }, undefined, key));
    await answered(context, api, project, begun, options);
  });
}

/** Prints the reply to the message that was just written, and what is asked. */
async function answered(
  { terminal, setExitCode }: CliContext,
  api: Api,
  project: Project,
  begun: IdeaDetail,
  { json = false, wait = true }: SayOptions,
): Promise<void> {
  const { number } = begun.idea;
  const isWaiting = wait && begun.isRunning && begun.idea.jobId !== null;
  const end = isWaiting ? await followReply(api, begun, json ? null : terminal) : null;
  const after = await api.idea({ project: project.id, idea: String(number) });
  if (end?.kind === 'failed') setExitCode(EXIT.failure);
  if (json) return terminal.json(after);
  if (end?.kind === 'failed') terminal.line(`No reply: ${end.why}\nTry again with \`tidemill idea resume ${number}\`.`);
  if (end === null && !begun.isRunning)
    terminal.line(`${ideaRef(number)} is noted. Start Tidemill for a reply: tidemill up`);
  if (after.idea.phase !== begun.idea.phase)
    terminal.line(
      after.idea.phase === 'COMPLETE'
        ? `\n${ideaRef(number)} is complete. Its brief: tidemill idea artifacts ${number}\nSpecify it: tidemill spec new --idea ${number}`
        : `\nThe phase is now ${after.idea.phase.toLowerCase()}.`,
    );
  for (const question of after.questions)
    for (const line of ['', ...questionLines(question, terminal)]) terminal.line(line);
}

async function list(
  { terminal, ...context }: CliContext,
  { all = false, json }: Json & { all?: boolean },
): Promise<void> {
  await withProject({ terminal, ...context }, async (api, project) => {
    const ideas = await api.ideas({ project: project.id, all });
    if (json) return terminal.json(ideas);
    if (ideas.length === 0) return terminal.line('No ideas yet. Start one: tidemill idea "What you have in mind"');
    for (const line of ideaListLines(ideas, terminal)) terminal.line(line);
  });
}

async function show(context: CliContext, ref: string, { json }: Json): Promise<void> {
  await withProject(context, async (api, project) => {
    const detail = await api.idea({ project: project.id, idea: ref });
    if (json) return context.terminal.json(detail);
    for (const line of ideaLines(detail, context.terminal)) context.terminal.line(line);
  });
}

type Change = (api: Api, project: Project, by: string) => Promise<IdeaDetail>;

/** Makes a change and prints the idea after it. */
async function changed(context: CliContext, { json }: Json, change: Change): Promise<void> {
  await withProject(context, async (api, project) => {
    const detail = await change(api, project, personName(context.env));
    if (json) return context.terminal.json(detail);
    for (const line of ideaLines({ ...detail, messages: [] }, context.terminal)) context.terminal.line(line);
  });
}

const steer = (context: CliContext, ref: string, to: 'pause' | 'resume' | 'archive', options: Json) =>
  changed(context, options, (api, project, by) => api.steerIdea({ project: project.id, idea: ref, to, by }));

const fork = (context: CliContext, ref: string, { title, ...options }: SayOptions) =>
  changed(context, options, (api, project, by) =>
    api.forkIdea({ project: project.id, idea: ref, by, ...(title ? { title } : {}) }),
  );

async function artifacts({ terminal, ...context }: CliContext, ref: string, { json }: Json): Promise<void> {
  await withProject({ terminal, ...context }, async (api, project) => {
    const { folder, files } = await api.ideaFiles({ project: project.id, idea: ref });
    if (json) return terminal.json({ folder, files });
    for (const { name, text } of files) {
      terminal.line(terminal.paint('bold', `${folder}/${name}`));
      terminal.line(`\n${text}`);
    }
  });
}
