import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { AppError, type SpecDraft } from '@tidemill/contract';
import { renderSpec, renderTasks } from '@tidemill/core';
import type { Command } from 'commander';
import { featureTasks } from '../specs/feature-list.ts';
import { readSpecFiles } from '../specs/spec-file.ts';
import { type CliContext, integer, type Json, jsonOption, withProject } from './context.ts';
import { specLine } from './spec-view.ts';
import { textFile } from './text-file.ts';

/** Specifications as files. */
export function addSpecFiles(spec: Command, context: CliContext, by: string): void {
  const { terminal } = context;

  spec
    .command('import <file> [tasks]')
    .description('add a specification from spec.md and tasks.md, or tasks from a feature-list.json')
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  tidemill spec import spec.md tasks.md\n  tidemill spec import feature-list.json',
    )
    .action(async (file: string, tasks: string | undefined, options: Json) => {
      if (/\.json$/i.test(file)) return importFeatures(context, file, options);
      const draft = await readDraft(context, file, tasks);
      await withProject(context, async (api, known) => {
        const project = await api.registerProject({ root: known.root });
        const summary = await api.importSpec({ project: project.id, by, draft });
        if (options.json) terminal.json(summary);
        else terminal.line(specLine(summary));
      });
    });

  spec
    .command('edit <number> <file> <tasks>')
    .description('replace the document by spec.md and tasks.md, as a new version')
    .option('--version <number>', 'only if this is the current version', integer(1, 10_000))
    .option(...jsonOption)
    .action(async (number: string, file: string, tasks: string, options: Json & { version?: number }) => {
      const draft = await readDraft(context, file, tasks);
      await withProject(context, async (api, project) => {
        const about = { project: project.id, spec: number };
        const version = options.version ?? (await api.spec(about)).spec.version;
        const summary = await api.editSpec({ ...about, by, version, draft });
        if (options.json) terminal.json(summary);
        else terminal.line(specLine(summary));
      });
    });

  spec
    .command('export <number>')
    .description('write spec.md and tasks.md')
    .option('--to <folder>', 'where to write them', '.')
    .option('--force', 'replace files that are there and differ')
    .option('--version <number>', 'an earlier version', integer(1, 10_000))
    .option(...jsonOption)
    .action((number: string, options: Json & { to: string; version?: number; force?: boolean }) =>
      withProject(context, async (api, project) => {
        const { version } = await api.spec({ project: project.id, spec: number, version: options.version });
        if (!version)
          throw new AppError('wrong_stage', `S${number} has no version yet`, { hint: 'Wait for its agent.' });
        const folder = resolve(context.cwd, options.to);
        await mkdir(folder, { recursive: true });
        const files = { 'spec.md': renderSpec(version.draft), 'tasks.md': renderTasks(version.draft) };
        for (const [name, text] of Object.entries(files)) {
          const there = existsSync(join(folder, name)) ? await textFile(context, join(folder, name)) : text;
          if (there !== text && !options.force)
            throw new AppError('conflict', `${join(options.to, name)} is there and differs; nothing was written`, {
              hint: 'Choose another folder with --to, or replace it with --force.',
            });
        }
        for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
        const written = Object.keys(files).map((name) => join(options.to, name));
        if (options.json) terminal.json({ version: version.version, written });
        else terminal.line(`Version ${version.version} written: ${written.join(', ')}`);
      }),
    );
}

async function readDraft(context: CliContext, file: string, tasks: string | undefined): Promise<SpecDraft> {
  if (tasks === undefined)
    throw new AppError('bad_input', 'a specification is two files', { hint: 'tidemill spec import spec.md tasks.md' });
  return readSpecFiles(
    { name: file, text: await textFile(context, file) },
    { name: tasks, text: await textFile(context, tasks) },
  );
}

async function importFeatures(context: CliContext, file: string, options: Json): Promise<void> {
  const { terminal } = context;
  const { tasks, finished } = featureTasks(basename(file), await textFile(context, file));
  if (tasks.length === 0) {
    if (options.json) return terminal.json({ created: 0, finished });
    return terminal.line(`No tasks were added: all ${finished} features are finished.`);
  }
  await withProject(context, async (api, known) => {
    const project = await api.registerProject({ root: known.root });
    const result = await api.importTasks({ project: project.id, tasks });
    if (options.json) return terminal.json({ ...result, finished });
    const left = finished === 0 ? '' : `; ${finished} finished features were left out`;
    const which = result.created === 1 ? `#${result.first}` : `#${result.first} to #${result.last}`;
    terminal.line(`${result.created} ${result.created === 1 ? 'task' : 'tasks'} added: ${which}${left}`);
  });
}
