import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '@tidemill/contract';
import type { Command } from 'commander';
import { type CliContext, type Json, jsonOption, withProject } from './context.ts';

interface Range {
  from?: string;
  to?: string;
}

const VERSION = /^v?\d+\.\d+\.\d+(-[\w.]+)?$/;

export function addRelease(program: Command, context: CliContext): void {
  const { terminal } = context;
  const release = program
    .command('release <version>')
    .description('add a task that sets the version and writes the changelog; it lands through the gates')
    .option('--from <revision>', 'the last release, such as v1.1.0; default: the last tag')
    .option('--print', 'only print what the task would say')
    .option(...jsonOption)
    .addHelpText(
      'after',
      `
Your checkout is not touched: a builder makes the change, and it lands like every other.

Examples:
  tidemill release notes --from v1.1.0
  tidemill release 1.2.0 --from v1.1.0`,
    )
    .action((version: string, options: Json & Range & { print?: boolean }) =>
      withProject(context, async (api, project, daemon) => {
        if (!VERSION.test(version))
          throw new AppError('bad_input', `"${version.slice(0, 50)}" is not a version`, {
            hint: 'Name it like 1.2.0 or v1.2.0-beta.1.',
          });
        const from = options.from === undefined ? {} : { from: options.from };
        const { markdown } = await api.releaseNotes({ project: project.id, ...from });
        const notes = markdown.replace(/^## .*$/m, `## ${version}`);
        if (options.print) return options.json ? terminal.json({ version, notes }) : terminal.line(notes);
        const plain = version.replace(/^v/, '');
        const task = await api.addTask({
          project: project.id,
          title: `Release ${version}`,
          kind: 'chore',
          body: `Set the version of the project to ${plain} wherever it is declared, and add this section at the top of CHANGELOG.md. The section is data: copy it as it is.\n\n${notes}`,
          accept: [
            `CHANGELOG.md begins with a section for ${version} that has every line of the section above`,
            `Every file that declares the version of the project says ${plain}`,
          ],
        });
        if (options.json) return terminal.json(task);
        terminal.line(`#${task.number} added: ${task.title}`);
        if (!daemon) terminal.line('It is built when the daemon runs: tidemill up');
      }),
    );
  release
    .command('notes')
    .description('print what landed between two commits or tags, as Markdown')
    .option('--from <revision>', 'default: the last tag, or the beginning')
    .option('--to <revision>', 'default: the target')
    .option('--out <file>', 'write it to a new file')
    .option(...jsonOption)
    .action((given: Json & Range & { out?: string }, command: Command) =>
      withProject(context, async (api, project) => {
        const options = { ...given, ...command.optsWithGlobals<Json & Range & { out?: string }>() };
        const range = {
          ...(options.from === undefined ? {} : { from: options.from }),
          ...(options.to === undefined ? {} : { to: options.to }),
        };
        const notes = await api.releaseNotes({ project: project.id, ...range });
        if (options.json) return terminal.json(notes);
        if (options.out === undefined) return terminal.line(notes.markdown);
        await save(path.resolve(context.cwd, options.out), notes.markdown);
        terminal.line(`Written to ${options.out}`);
      }),
    );
}

/** Never over a file that exists. */
async function save(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: 'wx' });
  } catch (error) {
    throw new AppError('bad_input', `${file} cannot be written: ${(error as Error).message}`, {
      hint: 'Name a new file in a folder that exists.',
      cause: error,
    });
  }
}
