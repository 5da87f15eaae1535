import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError, type PromptChangeView } from '@tidemill/contract';
import type { Command } from 'commander';
import { type CliContext, type Json, jsonOption, withProject } from './context.ts';
import { personName } from './person.ts';
import { fit, oneLine, type Terminal } from './terminal.ts';

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
    .command('list', { isDefault: true })
    .description('list them, newest first')
    .option(...jsonOption)
    .action((options: Json) =>
      withProject(context, async (api, project) => {
        const found = await api.promptChanges({ project: project.id, limit: 50 });
        if (options.json) return terminal.json(found);
        if (found.length === 0) terminal.line('No text was proposed.');
        for (const change of found) for (const line of linesOf(change, terminal)) terminal.line(line);
      }),
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
  const decisions = [
    ['apply', 'apply', 'write the text into its file'],
    ['refuse', 'refuse', 'refuse it'],
    ['rollback', 'roll_back', 'bring back the text from before'],
  ] as const;
  for (const [word, decision, description] of decisions)
    prompts
      .command(`${word} <change>`)
      .description(description)
      .option('--why <reason>', 'the reason', '')
      .option(...jsonOption)
      .action((change: string, options: Json & { why: string }) =>
        withProject(context, async (api, project) => {
          const by = personName(context.env);
          const view = await api.decidePrompt({ project: project.id, change, decision, why: options.why, by });
          if (options.json) terminal.json(view);
          else terminal.line(`${view.ref} is ${view.status.replaceAll('_', ' ')}.`);
        }),
      );
}

function linesOf({ ref, file, status, trial, why, replay }: PromptChangeView, { width, paint }: Terminal): string[] {
  const shown = trial ? `${trial.verdict}: ${trial.why}` : replay ? `${replay} tries it` : 'not tried by a replay';
  return [
    fit(`${ref}  ${file}  ${status.replaceAll('_', ' ')}`, width),
    paint('dim', fit(`   ${oneLine(shown)}${why === '' ? '' : `; ${oneLine(why)}`}`, width)),
  ];
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
