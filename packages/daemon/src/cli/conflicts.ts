import {
  type ComingPair,
  type ConflictDetail,
  type ConflictFile,
  type ConflictSummary,
  comingSentence,
  lossText,
} from '@tidemill/contract';
import type { Command } from 'commander';
import { type CliContext, type Json, jsonOption, withProject } from './context.ts';
import { confirm, personName } from './person.ts';
import { elapsed, oneLine, type Terminal, table } from './terminal.ts';

/** Lines of each file that are shown. */
const SHOWN_LINES = 20;

/** Commands about merge conflicts that a person has to resolve. */
export function addConflicts(program: Command, context: CliContext): void {
  const conflicts = program
    .command('conflicts')
    .description('merge conflicts with the target branch that wait for you')
    .addHelpText(
      'after',
      '\nExamples:\n  tidemill conflicts\n  tidemill conflicts coming\n  tidemill conflicts show 12\n  tidemill conflicts settle 12\n  tidemill conflicts abort 12',
    );
  conflicts
    .command('list', { isDefault: true })
    .description('list conflicts with their files')
    .option(...jsonOption)
    .action((options: Json) =>
      withProject(context, async (api, project) => {
        const found = await api.conflicts({ project: project.id });
        if (options.json) return context.terminal.json(found);
        list(found, context.terminal);
        const coming = await api.comingConflicts({ project: project.id });
        if (coming.length > 0) context.terminal.line();
        if (coming.length > 0) listComing(coming, context.terminal);
      }),
    );
  conflicts
    .command('coming')
    .description('list conflicts that will come when unfinished changes land as they are')
    .option(...jsonOption)
    .action((options: Json) =>
      withProject(context, async (api, project) => {
        const coming = await api.comingConflicts({ project: project.id });
        if (options.json) context.terminal.json(coming);
        else if (coming.length === 0) context.terminal.line('No conflicts are foreseen.');
        else listComing(coming, context.terminal);
      }),
    );
  conflicts
    .command('show <task>')
    .description('start the merge in the worktree if needed, and show how to resolve it')
    .option(...jsonOption)
    .action((task: string, options: Json) =>
      withProject(context, async (api, project) => {
        const detail = await api.conflict({ project: project.id, task });
        if (options.json) context.terminal.json(detail);
        else show(detail, context.terminal);
      }),
    );
  conflicts
    .command('settle <task>')
    .description('mark the conflict as resolved; fails while markers remain or lines of the target are missing')
    .option('--accept-losses', 'show which changes of the target are missing, ask, and settle without them')
    .option('--yes', 'with --accept-losses: do not ask for confirmation')
    .option(...jsonOption)
    .action((task: string, options: Json & { acceptLosses?: boolean; yes?: boolean }) =>
      withProject(context, async (api, project) => {
        const { losses, target } = options.acceptLosses
          ? await api.conflict({ project: project.id, task })
          : { losses: [], target: '' };
        const impact = `These changes of ${target} are dropped:\n${lossText(losses, target, SHOWN_LINES)}\n`;
        if (losses.length > 0 && !(await confirm(context, impact, options.yes))) return;
        const by = personName(context.env);
        const accept = losses.map(({ content }) => content);
        const settled = await api.settleConflict({ project: project.id, task, by, accept });
        if (options.json) context.terminal.json(settled);
        else context.terminal.line(`#${settled.number} is resolved and continues in ${settled.stage}.`);
      }),
    );
  conflicts
    .command('abort <task>')
    .description('restart the task on the newest target; the work so far is kept in a snapshot')
    .option('--yes', 'do not ask for confirmation')
    .option(...jsonOption)
    .action((task: string, options: Json & { yes?: boolean }) =>
      withProject(context, async (api, project) => {
        const impact = `The work on ${task} so far is saved in a snapshot, and the task restarts.`;
        if (!(await confirm(context, impact, options.yes))) return;
        const by = personName(context.env);
        const aborted = await api.abortConflict({ project: project.id, task, by });
        if (options.json) context.terminal.json(aborted);
        else context.terminal.line(`#${aborted.number} restarts on ${aborted.branch}.`);
      }),
    );
}

function listComing(coming: ComingPair[], terminal: Terminal): void {
  terminal.line(terminal.paint('bold', 'Coming conflicts'));
  const rows = coming.map(({ task, with: other }) => [
    `  #${task.number}`,
    `${oneLine(task.title)}: ${oneLine(comingSentence(other))}`,
  ]);
  for (const line of table(rows, terminal.width)) terminal.line(line);
}

function list(found: ConflictSummary[], terminal: Terminal): void {
  if (found.length === 0) terminal.line('No conflicts wait for you.');
  const rows = found.map(({ number, status, since, files, title, why }) => [
    `#${number}`,
    status,
    elapsed(Math.max(0, Date.now() - since)),
    files.length === 1 ? '1 file' : `${files.length} files`,
    `${oneLine(title)} (${oneLine(why)})`,
  ]);
  for (const line of table(rows, terminal.width)) terminal.line(line);
  const [first] = found;
  if (first) terminal.line(`\ntidemill conflicts show ${first.number}`);
}

function show(detail: ConflictDetail, terminal: Terminal): void {
  const { number, title, branch, target, why, isBehind, files, losses, commands } = detail;
  terminal.line(terminal.paint('bold', `#${number} ${oneLine(title)}`));
  terminal.line(`${branch} conflicts with ${target}; ${oneLine(why)}.`);
  if (isBehind) terminal.line(`${target} has new commits since this merge began. Files you resolved stay resolved.`);
  terminal.line();
  const rows = files.map((file) => [stateOf(file), file.kind.replaceAll('_', ' '), file.form, oneLine(file.path)]);
  if (files.length === 0) terminal.line('Nothing is left to resolve.');
  for (const line of table(rows, terminal.width)) terminal.line(line);
  if (losses.length > 0) {
    terminal.line(`\nAs the files are now, changes of ${target} would be lost:`);
    terminal.line(lossText(losses, target, SHOWN_LINES));
  }
  terminal.line('\nResolve it on the page, or with these commands (# starts a comment):');
  for (const command of commands) terminal.line(`  ${oneLine(command)}`);
}

function stateOf({ isResolved, hasMarkers }: ConflictFile): string {
  if (hasMarkers) return 'markers left';
  return isResolved ? 'resolved' : 'open';
}
