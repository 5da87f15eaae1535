import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { AppError, type GuardProposalView } from '@tidemill/contract';
import type { Command } from 'commander';
import { type CliContext, type Json, jsonOption, withProject } from './context.ts';
import { personName } from './person.ts';

/** Commands about guards that were proposed because something went wrong repeatedly. */
export function addGuards(program: Command, context: CliContext): void {
  const { terminal } = context;
  const guards = program
    .command('guards')
    .description('guards that Tidemill proposed because the same thing went wrong repeatedly')
    .addHelpText(
      'after',
      '\nExamples:\n  tidemill guards\n  tidemill guards show no-generated\n  tidemill guards approve no-generated\n  tidemill guards refuse no-generated --why "we edit them by hand"\n  tidemill guards propose guard.yaml --why "agents edit generated files"\n  tidemill guards bypass no-generated --task 12 --why "this one is a new file"',
    );
  guards
    .command('propose <file>')
    .description('propose a guard of your own; - reads standard input. It observes until you approve it')
    .requiredOption('--why <reason>', 'what went wrong without it')
    .option(...jsonOption)
    .action((file: string, options: Json & { why: string }) =>
      withProject(context, async (api, project) => {
        const by = personName(context.env);
        const yaml = await contentOf(context, file);
        const view = await api.proposeGuard({ project: project.id, yaml, why: options.why, by });
        show(context, options, view, `${view.file} observes. ${tested(view)}`);
      }),
    );
  addEdit(guards, context);
  guards
    .command('bypass <guard>')
    .description('let one call pass a guard that is not final, within ten minutes; it is recorded')
    .requiredOption('--why <reason>', 'why the call may pass')
    .option('--task <task>', 'a call of the agent of this task; without it, of your own session')
    .option(...jsonOption)
    .action((guard: string, options: Json & { why: string; task?: string }) =>
      withProject(context, async (api, project) => {
        const { why, task } = options;
        const by = personName(context.env);
        const view = await api.bypassGuard({ project: project.id, guard, why, by, ...(task ? { task } : {}) });
        const who = task ? `the agent of #${task.replace('#', '')}` : 'your own Claude Code session';
        if (options.json) return terminal.json(view);
        terminal.line(`The next call of ${who} passes ${view.name}, within ten minutes.`);
      }),
    );
}

function addEdit(guards: Command, context: CliContext): void {
  guards
    .command('edit <guard> <file>')
    .description('change a guard; - reads standard input. It observes again')
    .option(...jsonOption)
    .action((guard: string, file: string, options: Json) =>
      withProject(context, async (api, project) => {
        const by = personName(context.env);
        const yaml = (await contentOf(context, file)).replace(/^ {2}observe: true\n/m, '');
        const view = await api.decideGuardProposal({ project: project.id, guard, decision: 'observe', yaml, by });
        show(context, options, view, `${view.name} is changed and observes. ${tested(view)}`);
      }),
    );
}

const tested = ({ refusedCount, allowedCount }: GuardProposalView) =>
  `Of ${refusedCount + allowedCount} recorded calls it would have refused ${refusedCount}.`;

function show({ terminal }: CliContext, { json }: Json, view: GuardProposalView, line: string): void {
  if (json) terminal.json(view);
  else terminal.line(line);
}

async function contentOf({ cwd }: CliContext, file: string): Promise<string> {
  if (file === '-') return textOf(process.stdin);
  try {
    return await readFile(resolve(cwd, file), 'utf8');
  } catch (cause) {
    throw new AppError('bad_input', `${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
}
