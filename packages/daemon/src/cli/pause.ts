import type { Command } from 'commander';
import { type CliContext, type Json, jsonOption, withProject } from './context.ts';
import { personName } from './person.ts';

export function addPause(program: Command, context: CliContext): void {
  program
    .command('pause')
    .description('pause all workers; running work continues to its next checkpoint')
    .option('--now', 'freeze all agents at once, without waiting for a checkpoint')
    .option(...jsonOption)
    .action((options: Json & { now?: boolean }) => steerAll(context, options, options.now ? 'freeze' : 'pause'));

  program
    .command('resume')
    .description('resume all workers after a pause or an emergency stop')
    .option(...jsonOption)
    .action((options: Json) => steerAll(context, options, 'resume'));
}

function steerAll(context: CliContext, options: Json, operation: 'pause' | 'freeze' | 'resume'): Promise<void> {
  return withProject(context, async (api, project, daemon) => {
    const by = personName(context.env);
    const workers = await api.steerWorkers({ project: project.id, worker: 'all', operation, by });
    const { terminal } = context;
    if (options.json) return terminal.json(workers);
    const busy = workers.flatMap(({ name, task }) => (task ? [`${name} (#${task.number})`] : []));
    if (operation === 'resume') {
      terminal.line(daemon ? 'All workers resumed.' : 'All workers resume with the next `tidemill up`.');
    } else if (operation === 'freeze') {
      terminal.line(busy.length > 0 ? `Frozen: ${busy.join(', ')}.` : 'All workers are frozen.');
    } else terminal.line(busy.length > 0 ? `Paused. Still finishing: ${busy.join(', ')}.` : 'Paused.');
    if (operation !== 'resume') terminal.line('Continue with `tidemill resume`.');
  });
}
