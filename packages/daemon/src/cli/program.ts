import { Command } from 'commander';
import type { CliContext } from './context.ts';

type Add = (program: Command, context: CliContext) => void;

/**
 * Command groups in the order of `--help`. Loading all of them takes longer than most commands run, so a call loads
 * only the group of its first word.
 */
export const GROUPS: { words: string[]; load(): Promise<Add> }[] = [
  { words: ['init'], load: async () => (await import('./init.ts')).addInit },
  { words: ['up'], load: async () => (await import('./up.ts')).addUp },
  { words: ['stop', 'recover', 'purge'], load: async () => (await import('./stop.ts')).addStop },
  { words: ['pause', 'resume'], load: async () => (await import('./pause.ts')).addPause },
  { words: ['demo'], load: async () => (await import('./demo.ts')).addDemo },
  { words: ['task'], load: async () => (await import('./task.ts')).addTaskCommands },
  { words: ['idea'], load: async () => (await import('./idea.ts')).addIdea },
  { words: ['feedback'], load: async () => (await import('./feedback.ts')).addFeedback },
  { words: ['workers'], load: async () => (await import('./workers.ts')).addWorkers },
  { words: ['questions', 'answer', 'preferences'], load: async () => (await import('./questions.ts')).addQuestions },
  { words: ['inbox', 'channels'], load: async () => (await import('./inbox.ts')).addInbox },
  { words: ['loop'], load: async () => (await import('./loop.ts')).addLoop },
  { words: ['memory'], load: async () => (await import('./memory.ts')).addMemory },
  { words: ['traces'], load: async () => (await import('./traces.ts')).addTraces },
  { words: ['prompts'], load: async () => (await import('./prompts.ts')).addPrompts },
  { words: ['replay'], load: async () => (await import('./replay.ts')).addReplay },
  { words: ['deliver'], load: async () => (await import('./deliver.ts')).addDeliver },
  { words: ['release'], load: async () => (await import('./release.ts')).addRelease },
  { words: ['conflicts'], load: async () => (await import('./conflicts.ts')).addConflicts },
  {
    words: ['status', 'events', 'logs', 'doctor', 'snapshots', 'worktrees'],
    load: async () => (await import('./inspect.ts')).addInspection,
  },
  { words: ['evidence'], load: async () => (await import('./inspect.ts')).addEvidence },
  { words: ['budget'], load: async () => (await import('./budget.ts')).addBudget },
  { words: ['metrics'], load: async () => (await import('./metrics.ts')).addMetrics },
  { words: ['config'], load: async () => (await import('./config.ts')).addConfig },
  { words: ['routes'], load: async () => (await import('./routes.ts')).addRoutes },
  { words: ['prompt'], load: async () => (await import('./prompt.ts')).addPrompt },
  { words: ['agents'], load: async () => (await import('./agents.ts')).addAgents },
  { words: ['spec'], load: async () => (await import('./spec.ts')).addSpec },
  { words: ['token'], load: async () => (await import('./token.ts')).addToken },
  { words: ['mcp'], load: async () => (await import('./mcp.ts')).addMcp },
  { words: ['tracker'], load: async () => (await import('./tracker.ts')).addTracker },
  { words: ['guards'], load: async () => (await import('./guards.ts')).addGuards },
  { words: ['hooks', 'guard'], load: async () => (await import('./hooks.ts')).addHooks },
];

/** Errors are thrown so that one place reports them. If `firstWord` names a command, only its group is added. */
export async function createProgram(context: CliContext, version: string, firstWord?: string): Promise<Command> {
  const program = new Command('tidemill')
    .description('Coding agents work on your repository, day and night, behind gates.')
    .version(version)
    // `spec show 1 --version 2` is about the specification.
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .showHelpAfterError('Run with --help for usage.')
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
  tidemill task add "What should be done" --accept "How you know it is done"
  tidemill up

Set TIDEMILL_HOME to move the data folder (~/.tidemill). Set DATABASE_URL (postgres://…) to move the store.`,
    );
  const wanted = GROUPS.filter(({ words }) => firstWord !== undefined && words.includes(firstWord));
  for (const { load } of wanted.length > 0 ? wanted : GROUPS) (await load())(program, context);
  return program;
}
