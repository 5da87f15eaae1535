import { resolve } from 'node:path';
import { type Api, AppError, EventBody, isSignOfLife, nearest, type Project, plainText } from '@tidemill/contract';
import type { Command } from 'commander';
import { pageLink } from '../assembly/reach.ts';
import { isReadByAgent } from '../process/environment.ts';
import { type CliContext, collect, integer, type Json, jsonOption, withProject } from './context.ts';
import { eventText, TaskNames } from './describe.ts';
import { addDoctor } from './doctor.ts';
import { EXIT } from './failure.ts';
import { statusLines } from './status-lines.ts';
import { dateAndTime, table, timeOfDay, took } from './terminal.ts';

/** Commands that only read. */
export function addInspection(program: Command, context: CliContext): void {
  program
    .command('status')
    .description('show tasks by stage, workers and what needs you')
    .option(...jsonOption)
    .action((options: Json) =>
      withProject(context, async (api, project, daemon) => {
        const status = await api.status({ project: project.id });
        const isHidden = isReadByAgent(context.env);
        const link = daemon && !isHidden ? pageLink(daemon) : null;
        if (options.json) return context.terminal.json({ ...status, link });
        for (const line of statusLines(status, context.terminal)) context.terminal.line(line);
        if (!status.sandbox.active) context.terminal.line(`\n  ${status.sandbox.text}`);
        for (const warning of status.warnings) context.terminal.line(`\n  ${warning}`);
        if (link) context.terminal.line(`\nPage: ${link}`);
        else if (daemon) context.terminal.line('\nPage: its link has your token, so an agent does not see it.');
      }),
    );

  program
    .command('events')
    .description('print the event log, oldest first')
    .option('--follow', 'keep printing new events')
    .option('--after <seq>', 'only events after this number', integer(0, Number.MAX_SAFE_INTEGER))
    .option('--type <types>', 'only these types, such as task.moved (repeatable, or a,b)', collect)
    .option('--task <number>', 'only events of this task')
    .option('--all', 'include heartbeats (lease.renewed, worker.beat)')
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  tidemill events --follow\n  tidemill events --task 7\n  tidemill events --type merge.landed --json',
    )
    .action((options: EventOptions) => events(context, options));

  program
    .command('logs <task-or-run>')
    .description("print the output of a run, or of a task's last run")
    .option('--follow', 'keep printing until the run ends')
    .option('--gate <name>', "print what a gate printed when it last ran on the task's work")
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  tidemill logs 7 --follow\n  tidemill logs 7 --gate test\n  tidemill logs run_01h…',
    )
    .action((ref: string, options: LogOptions) => logs(context, ref, options));

  addDoctor(program, context);
  addSnapshots(program, context);

  program
    .command('worktrees')
    .description('list the worktrees of unfinished tasks, with their sizes')
    .option(...jsonOption)
    .action((options: Json) =>
      withProject(context, async (api, project) => {
        const found = await api.worktrees({ project: project.id });
        if (options.json) return context.terminal.json(found);
        if (found.length === 0) return context.terminal.line('There are no worktrees.');
        const rows = found.map(({ number, stage, why, bytes, isCut, path }) => [
          `#${number}`,
          why === null ? stage : `${stage} (${why.replaceAll('_', ' ')})`,
          `${isCut ? '> ' : ''}${(bytes / 1e6).toFixed(1)} MB`,
          path,
        ]);
        for (const line of table([['TASK', 'STAGE', 'SIZE', 'FOLDER'], ...rows], context.terminal.width))
          context.terminal.line(line);
      }),
    );
}

interface EventOptions extends Json {
  follow?: boolean;
  after?: number;
  type?: string[];
  task?: string;
  all?: boolean;
}

const EVENT_TYPES = EventBody.options.map((option) => option.shape.type.value);

async function events(context: CliContext, options: EventOptions): Promise<void> {
  const { terminal } = context;
  const types = options.type?.flatMap((each) => each.split(','));
  const unknown = types?.find((type) => !EVENT_TYPES.includes(type as (typeof EVENT_TYPES)[number]));
  if (unknown !== undefined) {
    const guess = nearest(unknown, EVENT_TYPES);
    throw new AppError('bad_input', `unknown event type "${unknown}"`, {
      hint: guess ? `Did you mean ${guess}?` : `The types are ${EVENT_TYPES.join(', ')}.`,
    });
  }
  await withProject(context, async (api, project) => {
    const names = new TaskNames(api);
    const { follow = false, after = 0, task } = options;
    const stream = api.events({ project: project.id, follow, after, task, types });
    for await (const event of stream) {
      if (isSignOfLife(event.body.type) && !options.all && !types) continue;
      if (options.json) terminal.json(event);
      else terminal.line(`${event.seq}  ${timeOfDay(event.at)}  ${eventText(event, await names.of(event))}`);
    }
  });
}

type LogOptions = Json & { follow?: boolean; gate?: string };

async function logs(context: CliContext, ref: string, options: LogOptions): Promise<void> {
  const { terminal } = context;
  if (options.gate !== undefined) return gateLog(context, ref, options.gate, options);
  await withProject(context, async (api, project) => {
    const run = ref.startsWith('run_') ? ref : await lastRun(api, project, ref);
    for await (const chunk of api.runLog({ run, follow: options.follow ?? false })) {
      if (options.json) terminal.json({ run, ...chunk });
      // An agent's output may contain control sequences. A pipe gets it unchanged.
      else terminal.out.write(terminal.isLive ? plainText(chunk.text) : chunk.text);
    }
  });
}

async function gateLog(context: CliContext, ref: string, gate: string, { json, follow }: LogOptions): Promise<void> {
  if (follow || ref.startsWith('run_'))
    throw new AppError('bad_input', '--gate needs the number of a task, and cannot be used with --follow', {
      hint: `tidemill logs 7 --gate ${gate}`,
    });
  const { terminal } = context;
  await withProject(context, async (api, project) => {
    const { task, evidence } = await api.task({ project: project.id, task: ref });
    const link = evidence.findLast((each) => each.gate === gate);
    if (!link) {
      const known = [...new Set(evidence.map((each) => each.gate))];
      const hint = known.length > 0 ? `Gates that did: ${known.join(', ')}.` : 'No gate has run on it yet.';
      throw new AppError('not_found', `the gate "${gate}" has not run for #${task.number}`, { hint });
    }
    const log = await api.evidenceLog({ project: project.id, evidence: link.id });
    if (json) return terminal.json({ gate, status: link.status, ...log });
    const text = log.text.endsWith('\n') ? log.text : `${log.text}\n`;
    terminal.out.write(terminal.isLive ? plainText(text) : text);
  });
}

async function lastRun(api: Api, project: Project, ref: string): Promise<string> {
  const { task } = await api.task({ project: project.id, task: ref });
  if (task.lastRunId) return task.lastRunId;
  throw new AppError('not_found', `#${task.number} has no runs yet`, {
    hint: 'Start the work with `tidemill up`.',
  });
}

function addSnapshots(program: Command, context: CliContext): void {
  const snapshots = program
    .command('snapshots')
    .description('list and restore work saved before a worktree was removed or reset');
  snapshots
    .command('list', { isDefault: true })
    .description('all snapshots, newest first')
    .option(...jsonOption)
    .action((options: Json) =>
      withProject(context, async (api, project) => {
        const { terminal } = context;
        const all = (await api.snapshots({ project: project.id })).sort((a, b) => b.at - a.at);
        if (options.json) return terminal.json(all);
        if (all.length === 0) return terminal.line('No snapshots yet.');
        const rows = all.map(({ number, at, commit, why }) => [
          `#${number}`,
          commit.slice(0, 12),
          dateAndTime(at),
          why,
        ]);
        for (const line of table(rows, terminal.width)) terminal.line(line);
      }),
    );
  snapshots
    .command('restore <ref>')
    .description('write the files of a snapshot into a new folder')
    .requiredOption('--to <dir>', 'a folder that does not exist yet')
    .option(...jsonOption)
    .addHelpText('after', '\nExample:\n  tidemill snapshots restore 3f2a91c --to ../rescued')
    .action((ref: string, options: Json & { to: string }) =>
      withProject(context, async (api, project) => {
        const to = resolve(context.cwd, options.to);
        const restored = await api.restoreSnapshot({ project: project.id, ref, to });
        if (options.json) context.terminal.json(restored);
        else context.terminal.line(`${restored.ref} written to ${restored.to}`);
      }),
    );
}

export function addEvidence(program: Command, context: CliContext): void {
  const evidence = program.command('evidence').description('show and verify gate results, chained by hash');
  evidence
    .command('list [task]', { isDefault: true })
    .description('list receipts of a task, or of the whole project')
    .option(...jsonOption)
    .action((task: string | undefined, options: Json) =>
      withProject(context, async (api, project) => {
        const { terminal } = context;
        const links: Awaited<ReturnType<Api['evidence']>> = [];
        for (let page: typeof links = [], afterPosition = 0; ; afterPosition = page.at(-1)!.position) {
          page = await api.evidence({ project: project.id, afterPosition, limit: 1000, ...(task ? { task } : {}) });
          links.push(...page);
          if (page.length < 1000) break;
        }
        if (options.json) return terminal.json(links);
        if (links.length === 0) return terminal.line('No evidence yet.');
        const rows = links.map(({ position, gate, status, tree, durationMs, hash }) => [
          String(position),
          gate,
          status,
          took(durationMs),
          `tree ${tree.slice(0, 10)}`,
          hash.slice(0, 12),
        ]);
        for (const line of table(rows, terminal.width)) terminal.line(line);
      }),
    );
  evidence
    .command('verify [commit]')
    .description("check a landed commit against its evidence (default: the target's newest)")
    .option(...jsonOption)
    .addHelpText('after', '\nExamples:\n  tidemill evidence verify\n  tidemill evidence verify HEAD~3')
    .action((commit: string | undefined, options: Json) =>
      withProject(context, async (api, project) => {
        const { terminal } = context;
        const result = await api.verifyEvidence({ project: project.id, commit });
        if (options.json) terminal.json(result);
        else {
          terminal.line(`${result.commit.slice(0, 12)} ${result.subject}`);
          for (const { name, ok, text } of result.checks) {
            terminal.line(
              `  ${terminal.paint(ok ? 'green' : 'red', ok ? 'valid  ' : 'invalid')}  ${name.padEnd(9)}${text}`,
            );
          }
          terminal.line(result.ok ? 'The evidence is valid.' : 'The evidence is not valid.');
        }
        if (!result.ok) context.setExitCode(EXIT.failure);
      }),
    );
}
