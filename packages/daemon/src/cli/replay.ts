import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError, DEFAULT_REPLAY_USD, type ReplayView } from '@tidemill/contract';
import { type Command, InvalidArgumentError } from 'commander';
import { type CliContext, collect, collectNumbers, integer, type Json, jsonOption, withProject } from './context.ts';
import { personName } from './person.ts';
import { recordedLines, replayLines, replayRow, runLines } from './replay-view.ts';
import { table } from './terminal.ts';

/** Between two looks at a replay that is waited for. */
const LOOK_MS = 1_000;

interface RunOptions extends Json {
  last: number;
  agent?: string[];
  prompt?: string;
  lesson?: string;
  repeat: number;
  landedTests?: boolean;
  budget: number;
  wait: boolean;
}

/** Commands about recorded tasks: landed tasks of this repository that are done again, as a bench. */
export function addReplay(program: Command, context: CliContext): void {
  const { terminal } = context;
  const write = (lines: string[]) => {
    for (const line of lines) terminal.line(line);
  };
  const replay = program
    .command('replay')
    .description('do landed tasks again, in isolation, to compare agents and prompts on your own code')
    .addHelpText(
      'after',
      '\nExamples:\n  tidemill replay tasks\n  tidemill replay run --last 5\n  tidemill replay run 12 15 --agent default --agent codex --repeat 3 --budget 10\n  tidemill replay run --prompt new-implement.md\n  tidemill replay show R1',
    );
  replay
    .command('list', { isDefault: true })
    .description('list replays, newest first')
    .option(...jsonOption)
    .action((options: Json) =>
      withProject(context, async (api, project) => {
        const found = await api.replays({ project: project.id, limit: 50 });
        if (options.json) return terminal.json(found);
        if (found.length > 0) return write(table(found.map(replayRow), terminal.width));
        terminal.line('There are no replays. `tidemill replay tasks` lists what can be replayed.');
      }),
    );
  replay
    .command('tasks')
    .description('list the landed tasks that can be done again')
    .option('--limit <count>', 'at most so many', integer(1, 200), 50)
    .option(...jsonOption)
    .action((options: Json & { limit: number }) =>
      withProject(context, async (api, project) => {
        const found = await api.recordedTasks({ project: project.id, limit: options.limit });
        if (options.json) terminal.json(found);
        else write(recordedLines(found, terminal));
      }),
    );
  replay
    .command('show <replay>')
    .description('show the figures of a replay and each of its runs')
    .option(...jsonOption)
    .action((name: string, options: Json) =>
      withProject(context, async (api, project) => {
        const found = await api.replay({ project: project.id, replay: name });
        if (options.json) terminal.json(found);
        else write([...replayLines(found, terminal), '', ...runLines(found, terminal)]);
      }),
    );
  replay
    .command('stop <replay>')
    .description('stop a replay; the figures so far are kept')
    .option('--why <reason>', 'the reason', '')
    .option(...jsonOption)
    .action((name: string, options: Json & { why: string }) =>
      withProject(context, async (api, project, daemon) => {
        const by = personName(context.env);
        const view = await api.stopReplay({ project: project.id, replay: name, why: options.why, by });
        if (options.json) return terminal.json(view);
        terminal.line(`${view.ref} is being stopped.`);
        if (!daemon) terminal.line('Its figures follow when the daemon runs: tidemill up');
      }),
    );
  addRun(replay, context);
}

function addRun(replay: Command, context: CliContext): void {
  const { terminal } = context;
  replay
    .command('run')
    .argument('[tasks...]', 'numbers of landed tasks; without them the newest', (text, list?: number[]) =>
      collectNumbers(text, list),
    )
    .description('do landed tasks again; nothing lands, and your checkout is not touched')
    .option('--last <count>', 'how many of the newest tasks, without numbers', integer(1, 200), 10)
    .option('--agent <name>', 'an entry of `agents`; several are compared with the first', collect)
    .option('--prompt <file>', 'a builder’s prompt, compared with the one in use')
    .option('--lesson <lesson>', 'a lesson such as L7: without it, with it, and with a placebo')
    .option('--repeat <count>', 'how often each task is done', integer(1, 20), 1)
    .option('--landed-tests', 'check the work with the tests of the change that landed')
    .option('--budget <usd>', 'stops when so much was spent', positive, DEFAULT_REPLAY_USD)
    .option('--no-wait', 'return at once; `tidemill replay show` shows the figures')
    .option(...jsonOption)
    .action((numbers: number[] | undefined, options: RunOptions) =>
      withProject(context, async (api, project, daemon) => {
        const prompt = options.prompt === undefined ? undefined : await promptIn(context.cwd, options.prompt);
        const started = await api.startReplay({
          project: project.id,
          by: personName(context.env),
          ...(numbers && numbers.length > 0 ? { tasks: numbers } : {}),
          last: options.last,
          agents: options.agent ?? [],
          ...(prompt === undefined ? {} : { prompt }),
          ...(options.lesson === undefined ? {} : { lesson: options.lesson }),
          repeats: options.repeat,
          withLandedTests: options.landedTests ?? false,
          limitUsd: options.budget,
        });
        const waits = options.wait && daemon !== null;
        if (!waits && options.json) return terminal.json(started);
        const work = `${started.planned} runs of ${started.tasks.length} tasks`;
        if (!options.json) terminal.line(`${started.ref} started: ${work}, at most $${started.limitUsd.toFixed(2)}.`);
        if (!waits) {
          terminal.line(
            daemon ? `Its figures: tidemill replay show ${started.ref}` : 'It runs while the daemon does: tidemill up',
          );
          return;
        }
        let last = -1;
        for (;;) {
          const view: ReplayView = await api.replay({ project: project.id, replay: started.id });
          if (!options.json && view.ended !== last) terminal.line(`${view.ended} of ${view.planned} runs ended`);
          last = view.ended;
          if (view.endedAt !== null) {
            if (options.json) return terminal.json(view);
            for (const line of replayLines(view, terminal)) terminal.line(line);
            return;
          }
          await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
        }
      }),
    );
}

function positive(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value > 0 && value <= 10_000) return value;
  throw new InvalidArgumentError('It must be an amount in USD, more than 0 and at most 10000.');
}

async function promptIn(cwd: string, file: string): Promise<string> {
  try {
    return await readFile(path.resolve(cwd, file), 'utf8');
  } catch (error) {
    throw new AppError('bad_input', `${file} cannot be read: ${(error as Error).message}`, {
      hint: 'Name a Markdown file such as .tidemill/agents/implement.md.',
      cause: error,
    });
  }
}
