import type { Command } from 'commander';
import { type CliContext, type Json, jsonOption, withProject } from './context.ts';

export function addRoutes(program: Command, context: CliContext): void {
  program
    .command('routes')
    .description('show which role reacts to which event, and what you can choose')
    .option('--all', 'also every reactor, with what it follows')
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nChoices are set in .tidemill/config.yaml:\n  routing: { feedback.given: off }\n\nExamples:\n  tidemill routes\n  tidemill routes --all --json',
    )
    .action(({ all = false, json }: Json & { all?: boolean }) =>
      withProject(context, async (api, { id }) => {
        const rows = await api.routing({ project: id, all });
        const { terminal } = context;
        if (json) return terminal.json(rows);
        for (const { event, role, reactor, does, choices, chosen } of rows) {
          terminal.line(`${terminal.paint('bold', event)} → ${role}`);
          terminal.line(`    ${does} ${terminal.paint('dim', `(${reactor})`)}`);
          const others = choices.filter((choice) => choice !== chosen);
          if (chosen !== null) terminal.line(`    routing: { ${event}: ${chosen} }, or ${others.join(', ')}`);
        }
      }),
    );
}
