import { TaskMode } from '@tidemill/contract';
import type { Command } from 'commander';
import { type CliContext, type Json, jsonOption, withProject } from './context.ts';

export function addPrompt(program: Command, context: CliContext): void {
  program
    .command('prompt <task> <mode>')
    .description('print the prompt that an agent would get for a task now')
    .option(...jsonOption)
    .addHelpText('after', `\nModes: ${TaskMode.options.join(', ')}\n\nExample:\n  tidemill prompt 7 review`)
    .action((task: string, mode: string, options: Json) =>
      withProject(context, async (api, project) => {
        const { terminal } = context;
        const view = await api.prompt({ project: project.id, task, mode });
        if (options.json) return terminal.json(view);
        terminal.out.write(view.prompt);
        // Standard output holds the prompt only.
        for (const what of view.dropped) terminal.err.write(`tidemill: the prompt: ${what}\n`);
      }),
    );
}
