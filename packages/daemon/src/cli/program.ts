import { Command } from 'commander';
import { personDecides } from '../handlers/role.ts';
import { agentOfRun } from '../process/environment.ts';
import type { CliContext } from './context.ts';
import { offeredCommands } from './offered.ts';

type Add = (program: Command, context: CliContext) => void;

interface Group {
  words: string[];
  /** Null: its commands are rows of the contract's routes. */
  load: (() => Promise<Add>) | null;
  /**
   * What the commands change. A route says itself whether it decides something, and then it is refused in a run of an agent.
   * Commands that change files or processes of the machine without a route are refused there: all of the group, or those listed.
   */
  changes: 'by routes' | 'the machine' | string[];
}

/**
 * Command groups in the order of `--help`. Loading all of them takes longer than most commands run, so a call loads
 * only the group of its first word.
 */
export const GROUPS: Group[] = [
  { words: ['init'], changes: 'the machine', load: async () => (await import('./init.ts')).addInit },
  { words: ['up'], changes: 'the machine', load: async () => (await import('./up.ts')).addUp },
  {
    words: ['stop', 'recover', 'purge'],
    changes: 'the machine',
    load: async () => (await import('./stop.ts')).addStop,
  },
  { words: ['pause', 'resume'], changes: 'by routes', load: async () => (await import('./pause.ts')).addPause },
  { words: ['demo'], changes: 'the machine', load: async () => (await import('./demo.ts')).addDemo },
  { words: ['task'], changes: 'by routes', load: async () => (await import('./task.ts')).addTaskCommands },
  { words: ['idea'], changes: 'by routes', load: async () => (await import('./idea.ts')).addIdea },
  { words: ['feedback'], changes: 'by routes', load: async () => (await import('./feedback.ts')).addFeedback },
  { words: ['workers'], changes: 'by routes', load: async () => (await import('./workers.ts')).addWorkers },
  {
    words: ['questions', 'answer', 'preferences'],
    changes: 'by routes',
    load: async () => (await import('./questions.ts')).addQuestions,
  },
  { words: ['inbox', 'channels'], changes: 'by routes', load: async () => (await import('./inbox.ts')).addInbox },
  { words: ['loop'], changes: 'by routes', load: null },
  { words: ['memory'], changes: 'by routes', load: null },
  { words: ['traces'], changes: 'by routes', load: async () => (await import('./traces.ts')).addTraces },
  { words: ['prompts'], changes: 'by routes', load: async () => (await import('./prompts.ts')).addPrompts },
  { words: ['replay'], changes: 'by routes', load: async () => (await import('./replay.ts')).addReplay },
  { words: ['deliver'], changes: 'by routes', load: async () => (await import('./deliver.ts')).addDeliver },
  { words: ['release'], changes: 'the machine', load: async () => (await import('./release.ts')).addRelease },
  { words: ['conflicts'], changes: 'by routes', load: async () => (await import('./conflicts.ts')).addConflicts },
  {
    words: ['status', 'events', 'logs', 'doctor', 'snapshots', 'worktrees'],
    changes: 'by routes',
    load: async () => (await import('./inspect.ts')).addInspection,
  },
  { words: ['evidence'], changes: 'by routes', load: async () => (await import('./inspect.ts')).addEvidence },
  { words: ['budget'], changes: 'by routes', load: async () => (await import('./budget.ts')).addBudget },
  { words: ['metrics'], changes: 'by routes', load: async () => (await import('./metrics.ts')).addMetrics },
  { words: ['config'], changes: 'by routes', load: async () => (await import('./config.ts')).addConfig },
  { words: ['routes'], changes: 'by routes', load: async () => (await import('./routes.ts')).addRoutes },
  { words: ['prompt'], changes: 'by routes', load: async () => (await import('./prompt.ts')).addPrompt },
  { words: ['agents'], changes: ['agents test'], load: async () => (await import('./agents.ts')).addAgents },
  { words: ['spec'], changes: 'by routes', load: async () => (await import('./spec.ts')).addSpec },
  { words: ['token'], changes: 'by routes', load: async () => (await import('./token.ts')).addToken },
  { words: ['mcp'], changes: 'the machine', load: async () => (await import('./mcp.ts')).addMcp },
  { words: ['tracker'], changes: 'by routes', load: null },
  { words: ['guards'], changes: 'by routes', load: async () => (await import('./guards.ts')).addGuards },
  { words: ['hooks'], changes: 'the machine', load: async () => (await import('./hooks.ts')).addHooks },
  { words: ['guard'], changes: 'by routes', load: async () => (await import('./hooks.ts')).addGuard },
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
  const offered = new Set(offeredCommands().map(({ words: [first] }) => first!));
  const known = GROUPS.flatMap(({ words }) => words);
  const isAlone = firstWord !== undefined && (wanted.length > 0 || offered.has(firstWord));
  const addRows = async (word: string) => {
    if (offered.has(word)) (await import('./operations.ts')).addOperations(program, context, word);
  };
  for (const { load, words } of isAlone ? wanted : GROUPS) {
    if (load) (await load())(program, context);
    for (const word of words) await addRows(word);
  }
  // A row of the contract needs no line here.
  for (const word of offered) if (!known.includes(word) && (!isAlone || word === firstWord)) await addRows(word);
  program.hook('preAction', (_, command) => refuseToAgent(command, context));
  return program;
}

/** In a run of an agent. What a route decides is refused by the connection (connect.ts). */
function refuseToAgent(command: Command, { env }: CliContext): void {
  if (agentOfRun(env) === null) return;
  const path: string[] = [];
  for (let at: Command | null = command; at?.parent; at = at.parent) path.unshift(at.name());
  const group = GROUPS.find(({ words }) => words.includes(path[0] ?? ''));
  const name = path.join(' ');
  if (group?.changes === 'the machine' || group?.changes.includes(name)) throw personDecides(`tidemill ${name}`);
}
