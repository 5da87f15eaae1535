import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '@tidemill/contract';
import type { Command } from 'commander';
import { type CliContext, type Json, jsonOption, withProject } from './context.ts';
import { personName } from './person.ts';

/** Commands about proposed texts of prompts and categories. */
export function addPrompts(program: Command, context: CliContext): void {
  const { terminal } = context;
  const prompts = program
    .command('prompts')
    .description('proposed texts of prompts and categories, tried on recorded tasks')
    .addHelpText(
      'after',
      '\nExamples:\n  tidemill prompts\n  tidemill prompts propose .tidemill/agents/implement.md --from new.md\n  tidemill prompts apply P1\n  tidemill prompts rollback P1',
    );
  prompts
    .command('propose <file>')
    .description('propose a text; the builder’s prompt is tried on recorded tasks')
    .requiredOption('--from <file>', 'the file with the new text')
    .option('--why <reason>', 'the reason', '')
    .option(...jsonOption)
    .action((file: string, options: Json & { from: string; why: string }) =>
      withProject(context, async (api, project) => {
        const text = await textIn(context.cwd, options.from);
        const by = personName(context.env);
        const change = await api.proposePrompt({ project: project.id, file, text, why: options.why, by });
        if (options.json) return terminal.json(change);
        const tried = change.replay ? `${change.replay} tries it.` : 'No replay tries it: you decide.';
        terminal.line(`${change.ref} proposes a text for ${change.file}. ${tried}`);
      }),
    );
}

async function textIn(cwd: string, file: string): Promise<string> {
  try {
    return await readFile(path.resolve(cwd, file), 'utf8');
  } catch (error) {
    throw new AppError('bad_input', `${file} cannot be read: ${(error as Error).message}`, {
      hint: 'Name a Markdown file.',
      cause: error,
    });
  }
}
