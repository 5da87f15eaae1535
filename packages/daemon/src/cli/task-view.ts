import {
  comingSentence,
  HELD_REASONS,
  progressWords,
  type RunProgress,
  type TaskDetail,
  type TodoItem,
  workerName,
} from '@tidemill/contract';
import type { Command } from 'commander';
import { type CliContext, type Json, jsonOption, withProject } from './context.ts';
import { dateAndTime, fit, harmless, oneLine, type Terminal, table, took } from './terminal.ts';

const MOST_DIFF_BYTES = 10_000_000;

export function addTaskDiff(task: Command, context: CliContext): void {
  task
    .command('diff <number>')
    .description("show a task's change: the landed commit, or the worktree now")
    .option(...jsonOption)
    .action((number: string, options: Json) =>
      withProject(context, async (api, project) => {
        const { terminal } = context;
        const diff = await api.taskDiff({ project: project.id, task: number, maxBytes: MOST_DIFF_BYTES });
        if (options.json) return terminal.json(diff);
        if (diff.text === '') return terminal.line('No change yet.');
        // A file may contain control sequences. A pipe gets them unchanged.
        if (terminal.isLive)
          for (const each of diff.text.split('\n')) terminal.line(harmless(each.replaceAll('\t', '    ')));
        else terminal.out.write(diff.text);
        if (diff.isCut) terminal.line(terminal.paint('yellow', 'The diff is longer; only its beginning is shown.'));
      }),
    );
}

/** Prints a task with its runs, evidence and notes. */
export function showTask({ task, origin, runs, evidence, coming }: TaskDetail, terminal: Terminal): void {
  const { line, paint, width } = terminal;
  const heading = (text: string) => {
    line();
    line(paint('bold', text));
  };
  line(paint('bold', `#${task.number} ${oneLine(task.title)}`));
  line(
    `  ${task.stage} since ${dateAndTime(task.stageSince)}, pipeline ${task.pipeline}, ${task.kind}, priority ${task.priority}`,
  );
  if (origin) line(`  from ${oneLine(origin.text)}${origin.url === null ? '' : `, ${oneLine(origin.url)}`}`);
  if (task.after.length > 0)
    line(`  after ${task.after.map((number) => `#${number}`).join(', ')}, ${task.unmet} not done yet`);
  if (task.files.length > 0) line(`  files ${task.files.join(', ')}`);
  if (task.lease) line(`  leased to ${workerName(task.lease.workerId)} since ${dateAndTime(task.lease.claimedAt)}`);
  if (task.pull) line(`  pull request #${task.pull.number}, ${oneLine(task.pull.url)}`);
  if (task.landedCommit) line(`  landed as ${task.landedCommit.slice(0, 12)}`);
  if (task.blocked)
    line(paint('yellow', `  blocked, ${HELD_REASONS[task.blocked.reason]}: ${oneLine(task.blocked.text)}`));
  if (task.waiting) line(paint('yellow', `  waiting: ${oneLine(task.waiting)}`));
  for (const each of coming) line(paint('yellow', `  ${oneLine(comingSentence(each))}`));
  for (const { text } of task.openQuestions) line(paint('yellow', `  question: ${oneLine(text)}`));
  if (task.body) {
    line();
    for (const text of task.body.split('\n')) line(`  ${oneLine(text)}`);
  }
  if (task.criteria.length > 0) {
    heading('Acceptance');
    const mark = (met: boolean | null) => (met === null ? 'open' : met ? 'met' : 'not met');
    for (const each of table(
      task.criteria.map(({ id, text, met, isDerived }) => [
        `  ${id}`,
        mark(met),
        `${oneLine(text)}${isDerived ? ' (derived by the reviewer)' : ''}`,
      ]),
      width,
    ))
      line(each);
  }
  if (runs.length > 0) {
    heading('Runs');
    const rows = runs.map((run) => {
      const duration = took((run.endedAt ?? Date.now()) - run.startedAt);
      const outcome = run.status === 'running' ? 'running' : `${run.outcome}${run.failure ? ` (${run.failure})` : ''}`;
      return [`  ${run.id}`, run.mode, duration, outcome, oneLine(run.summary)];
    });
    for (const each of table(rows, width)) line(each);
    const { briefing, progress, usualMs, status } = runs.at(-1)!;
    if (progress) for (const each of progressLines(progress)) line(`  ${each}`);
    if (usualMs !== null && status === 'running') line(paint('dim', `  usually ${took(usualMs)}`));
    if (briefing && briefing.lessons.length > 0)
      line(paint('dim', `  the last run was given lessons ${briefing.lessons.join(', ')}`));
    for (const what of briefing?.dropped ?? []) line(paint('dim', `  the last run's prompt: ${oneLine(what)}`));
    line(paint('dim', `  tidemill logs ${task.number} prints the output of the last run`));
  }
  if (evidence.length > 0) {
    heading('Evidence');
    const rows = evidence.map(({ gate, status, severity, tree, durationMs, hash }) => [
      `  ${gate}`,
      status === 'fail' && severity === 'warn' ? 'warning' : status,
      took(durationMs),
      `tree ${tree.slice(0, 10)}`,
      hash.slice(0, 12),
    ]);
    for (const each of table(rows, width)) line(each);
    for (const { gate, scan } of new Map(evidence.map((link) => [link.gate, link])).values())
      if (scan) line(`  ${fit(oneLine(`${gate}: ${scan.summary}`), width - 2)}`);
    const failed = evidence.findLast(({ status }) => status !== 'pass');
    if (failed)
      line(paint('dim', `  tidemill logs ${task.number} --gate ${failed.gate} prints what the gate printed last`));
  }
  if (task.context.length > 0) {
    heading('Notes');
    for (const { source, said, summary } of task.context) line(`  ${fit(`${source}: ${said ?? summary}`, width - 2)}`);
  }
}

const MARK: Record<TodoItem['status'], string> = { done: '[x]', active: '[>]', pending: '[ ]' };

/** How far the last run is, with the agent's own to-do list. */
function progressLines(progress: RunProgress): string[] {
  const words = progressWords(progress);
  const steps = progress.todo.map(({ text, status }) => `${MARK[status]} ${oneLine(text)}`);
  return [...(words === '' ? [] : [words]), ...steps];
}
