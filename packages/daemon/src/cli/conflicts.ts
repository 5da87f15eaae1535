import type { ConflictDetail, ConflictFile, ConflictSummary } from '@tidemill/contract';
import type { Command } from 'commander';
import { type CliContext, type Json, jsonOption, withProject } from './context.ts';
import { confirm, personName } from './person.ts';
import { elapsed, oneLine, type Terminal, table } from './terminal.ts';

/** Commands about changes that do not fit together with the target, and that no agent is to resolve. */
export function addConflicts(program: Command, context: CliContext): void {
  const conflicts = program
    .command('conflicts')
    .description('conflicts with the target that wait for you')
    .addHelpText(
      'after',
      '\nExamples:\n  tidemill conflicts\n  tidemill conflicts show 12\n  tidemill conflicts settle 12\n  tidemill conflicts abort 12',
    );
  conflicts
    .command('list', { isDefault: true })
    .description('all of them, with their files')
    .option(...jsonOption)
    .action((options: Json) =>
      withProject(context, async (api, project) => {
        const found = await api.conflicts({ project: project.id });
        if (options.json) context.terminal.json(found);
        else list(found, context.terminal);
      }),
    );
  conflicts
    .command('show <task>')
    .description('begins the merge in the worktree if it is not under way, and says how to resolve it')
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
    .description('say that it is resolved; refused while a marker is left, and the gates run again')
    .option(...jsonOption)
    .action((task: string, options: Json) =>
      withProject(context, async (api, project) => {
        const by = personName(context.env);
        const settled = await api.settleConflict({ project: project.id, task, by });
        if (options.json) context.terminal.json(settled);
        else context.terminal.line(`#${settled.number} is resolved and goes on in ${settled.stage}.`);
      }),
    );
  conflicts
    .command('abort <task>')
    .description('begin the task anew on the newest target; the work so far is kept in a snapshot')
    .option('--yes', 'do not ask')
    .option(...jsonOption)
    .action((task: string, options: Json & { yes?: boolean }) =>
      withProject(context, async (api, project) => {
        const impact = `The work on ${task} so far is put into a snapshot, and the task starts again.`;
        if (!(await confirm(context, impact, options.yes))) return;
        const by = personName(context.env);
        const aborted = await api.abortConflict({ project: project.id, task, by });
        if (options.json) context.terminal.json(aborted);
        else context.terminal.line(`#${aborted.number} starts again on ${aborted.branch}.`);
      }),
    );
}

function list(found: ConflictSummary[], terminal: Terminal): void {
  if (found.length === 0) terminal.line('No conflicts wait for you.');
  const rows = found.map(({ number, status, since, files, title, why }) => [
    `#${number}`,
    status,
    elapsed(Math.max(0, Date.now() - since)),
    `${files.length} files`,
    `${oneLine(title)} (${oneLine(why)})`,
  ]);
  for (const line of table(rows, terminal.width)) terminal.line(line);
  const [first] = found;
  if (first) terminal.line(`\ntidemill conflicts show ${first.number}`);
}

function show(detail: ConflictDetail, terminal: Terminal): void {
  const { number, title, branch, target, why, isBehind, files, commands } = detail;
  terminal.line(terminal.paint('bold', `#${number} ${oneLine(title)}`));
  terminal.line(`${branch} and ${target} do not fit together; ${oneLine(why)}.`);
  if (isBehind) terminal.line(`${target} has moved on since this merge began; what you resolved stays.`);
  terminal.line();
  const rows = files.map((file) => [stateOf(file), file.kind.replaceAll('_', ' '), file.form, oneLine(file.path)]);
  if (files.length === 0) terminal.line('Nothing is left to resolve.');
  for (const line of table(rows, terminal.width)) terminal.line(line);
  terminal.line('\nResolve it on the page, or here (# begins a remark):');
  for (const command of commands) terminal.line(`  ${oneLine(command)}`);
}

function stateOf({ isResolved, hasMarkers }: ConflictFile): string {
  if (hasMarkers) return 'markers left';
  return isResolved ? 'resolved' : 'open';
}
