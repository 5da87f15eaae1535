import { Command } from 'commander';
import { addAgents } from './agents.ts';
import { addBudget } from './budget.ts';
import { addConfig } from './config.ts';
import { addConflicts } from './conflicts.ts';
import type { CliContext } from './context.ts';
import { addDemo } from './demo.ts';
import { addHooks } from './hooks.ts';
import { addInbox } from './inbox.ts';
import { addInit } from './init.ts';
import { addEvidence, addInspection } from './inspect.ts';
import { addMetrics } from './metrics.ts';
import { addPause } from './pause.ts';
import { addPrompt } from './prompt.ts';
import { addQuestions } from './questions.ts';
import { addStop } from './stop.ts';
import { addTaskCommands } from './task.ts';
import { addToken } from './token.ts';
import { addUp } from './up.ts';
import { addWorkers } from './workers.ts';

/** The command line as a whole. Errors are thrown, so that there is one place that reports them. */
export function createProgram(context: CliContext, version: string): Command {
  const program = new Command('tidemill')
    .description('Coding agents work on your repository, day and night, behind gates.')
    .version(version)
    .showSuggestionAfterError()
    .showHelpAfterError('Try --help.')
    .configureOutput({
      writeOut: (text) => void context.terminal.out.write(text),
      writeErr: (text) => void context.terminal.err.write(text.replace(/^error: /, 'tidemill: ')),
    })
    .exitOverride()
    .addHelpText(
      'after',
      `
First steps, in a git repository:
  tidemill init
  tidemill task add "What should be done" --accept "How one sees that it is"
  tidemill up

TIDEMILL_HOME moves the data folder (~/.tidemill). DATABASE_URL (postgres://…) moves the store.`,
    );
  addInit(program, context);
  addUp(program, context);
  addStop(program, context);
  addPause(program, context);
  addDemo(program, context);
  addTaskCommands(program, context);
  addWorkers(program, context);
  addQuestions(program, context);
  addInbox(program, context);
  addConflicts(program, context);
  addInspection(program, context);
  addEvidence(program, context);
  addBudget(program, context);
  addMetrics(program, context);
  addConfig(program, context);
  addPrompt(program, context);
  addAgents(program, context);
  addToken(program, context);
  addHooks(program, context);
  return program;
}
