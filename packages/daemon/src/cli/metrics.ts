import { type HistoryView, type MetricFigures, MetricPeriod, type QualityFigures } from '@tidemill/contract';
import { type Command, Option } from 'commander';
import { type CliContext, type Json, jsonOption, withProject } from './context.ts';
import { dateAndTime, elapsed, table } from './terminal.ts';

interface MetricsOptions extends Json {
  period: MetricPeriod;
  worker?: string;
  history?: boolean;
}

const HEAD = ['', 'done', 'cycle', 'first review', 'errors', 'cost', 'cost/task', 'busy'];

export function addMetrics(program: Command, context: CliContext): void {
  program
    .command('metrics')
    .description(
      'show tasks done, cycle time, first tries and reviews passed, gates, refusals, errors, cost and utilisation',
    )
    .addOption(new Option('--period <period>', 'how far back').choices(MetricPeriod.options).default('24h'))
    .option('--worker <name>', 'only this worker, such as agent-1')
    .option('--history', 'show the period in steps of an hour, six hours or a day')
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nExamples:\n  tidemill metrics\n  tidemill metrics --period 7d --worker agent-1\n  tidemill metrics --period 30d --history',
    )
    .action(({ period, worker, history, json }: MetricsOptions) =>
      withProject(context, async (api, project) => {
        if (history) return overTime(context, await api.history({ project: project.id, period }), project.id, json);
        const view = await api.metrics({ project: project.id, period, worker });
        if (json) return context.terminal.json(view);
        const rows = view.workers.map(({ name, ...figures }) => [name, ...cells(figures)]);
        if (worker === undefined) rows.push(['all', ...cells(view.total)]);
        for (const line of table([HEAD, ...rows], context.terminal.width)) context.terminal.line(line);
        if (view.quality && worker === undefined)
          for (const line of qualityLines(view.quality)) context.terminal.line(line);
        for (const { gate, runs, flakes } of view.flakes)
          context.terminal.line(
            `Flaky: gate ${gate} failed and then passed on the same code, ${flakes} of ${runs} times.`,
          );
        printStale(context, view);
      }),
    );
}

async function overTime(context: CliContext, view: HistoryView, project: string, json = false): Promise<void> {
  if (json) return context.terminal.json(view);
  const { showHistory } = await import('./history.ts');
  showHistory(context.terminal, view, project);
  printStale(context, view);
}

function printStale({ terminal }: CliContext, { isStale, computedAt }: { isStale: boolean; computedAt: number }): void {
  if (isStale) terminal.line(`As of ${dateAndTime(computedAt)}; newer figures are not available.`);
}

function cells(figures: MetricFigures): string[] {
  const { completed, cycleTimeMs, firstReviewPassRate, errors, errorRate, costUsd, costPerTaskUsd, uptime } = figures;
  return [
    String(completed),
    cycleTimeMs === null ? '-' : elapsed(cycleTimeMs),
    firstReviewPassRate === null ? '-' : percent(firstReviewPassRate),
    errorRate === null ? '-' : `${errors} (${errorRate.toFixed(2)}/task)`,
    `${costUsd.toFixed(2)} USD`,
    costPerTaskUsd === null ? '-' : `${costPerTaskUsd.toFixed(2)} USD`,
    percent(uptime),
  ];
}

function qualityLines(quality: QualityFigures): string[] {
  const { firstPassRate, reviewsPerTask, gatePassRate, questionsPerTask, refusals, lessons, repeats } = quality;
  const rate = (part: number | null) => (part === null ? '-' : percent(part));
  const each = (count: number | null) => (count === null ? '-' : count.toFixed(1));
  const guards = refusals.map(({ guard, count }) => `${guard} ${count}`).join(', ');
  return [
    '',
    `First try: ${rate(firstPassRate)} of the tasks. Gates passed: ${rate(gatePassRate)}. Reviews per task: ${each(reviewsPerTask)}. Questions per task: ${each(questionsPerTask)}.`,
    ...(guards === '' ? [] : [`Refused by guards: ${guards}.`]),
    ...(lessons + quality.tracesRead === 0
      ? []
      : [
          `Learned from what happened: ${lessons} ${lessons === 1 ? 'lesson' : 'lessons'}; it happened ${repeats} times again. Traces read by agents: ${quality.tracesRead}.`,
        ]),
  ];
}

const percent = (part: number) => `${Math.round(part * 100)} %`;
