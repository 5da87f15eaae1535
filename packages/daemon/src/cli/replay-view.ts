import type { Mean, PairedFigures, RecordedTaskView, ReplayDetail, ReplayView, Share } from '@tidemill/contract';
import { elapsed, fit, oneLine, type Terminal, table } from './terminal.ts';

const percent = (share: number) => `${Math.round(share * 100)} %`;
const range = ({ low, high }: Share) => `${percent(low)} to ${percent(high)}`;
const rate = (share: Share | null) => (share === null ? 'no data' : `${percent(share.value)} (${range(share)})`);
const money = (mean: Mean | null) =>
  mean === null ? 'no data' : `$${mean.value.toFixed(4)} (±${(mean.high - mean.value).toFixed(4)})`;
const time = (mean: Mean | null) =>
  mean === null ? 'no data' : `${elapsed(mean.value)} (±${elapsed(mean.high - mean.value)})`;

export function replayRow(view: ReplayView): string[] {
  const { ref, status, variants, ended, planned, tasks, spentUsd } = view;
  return [
    ref,
    status,
    `${ended}/${planned} runs`,
    tasks.length === 1 ? '1 task' : `${tasks.length} tasks`,
    variants.map(oneLine).join(' / '),
    `$${spentUsd.toFixed(2)}`,
  ];
}

export function replayLines(view: ReplayView, terminal: Terminal): string[] {
  const { ref, status, why, report, spentUsd, limitUsd, tasks, repeats } = view;
  const how = `${tasks.map(({ number }) => `#${number}`).join(' ')}${repeats > 1 ? `, ${repeats} times each` : ''}`;
  return [
    terminal.paint('bold', `${ref} is ${status}${why === '' ? '' : `: ${oneLine(why)}`}`),
    fit(`tasks ${how}`, terminal.width),
    `spent $${spentUsd.toFixed(2)} of $${limitUsd.toFixed(2)}`,
    '',
    ...table(
      [
        ['variant', 'passed', 'at the first try', 'cost per run', 'time per run'],
        ...report.variants.map((each) => [
          oneLine(each.name),
          `${each.passed}/${each.runs}, ${rate(each.passRate)}`,
          rate(each.firstTryRate),
          money(each.costUsd),
          time(each.durationMs),
        ]),
      ],
      Math.max(terminal.width, 130),
    ),
    ...report.variants
      .filter((each) => each.void > 0)
      .map((each) => `${oneLine(each.name)}: ${each.void} runs do not count; \`tidemill replay show ${ref}\` says why`),
    ...report.pairs.map((pair) => pairLine(pair, report.variants[0]?.name ?? '')),
  ];
}

function pairLine(figures: PairedFigures, base: string): string {
  const { name, pairs, better, worse, gain, costRatio } = figures;
  const p = better >= worse ? figures.p : figures.pWorse;
  if (gain === null) return `${oneLine(name)} against ${oneLine(base)}: no task has a result of both.`;
  const cost = costRatio === null ? '' : `, at ${costRatio.toFixed(2)} times the cost`;
  const sure = p <= 0.05 ? `p = ${p.toFixed(3)}` : `p = ${p.toFixed(2)}, may be chance`;
  const points = (value: number) => `${value > 0 ? '+' : ''}${Math.round(value * 100)}`;
  return `${oneLine(name)} against ${oneLine(base)}: ${points(gain.value)} points at the first try (${points(gain.low)} to ${points(gain.high)}), better on ${better} and worse on ${worse} of ${pairs} tasks (${sure})${cost}`;
}

export function runLines({ runs, variants }: ReplayDetail, terminal: Terminal): string[] {
  return runs.map(({ task, variant, result }) => {
    const name = oneLine(variants[variant] ?? '');
    if (result === null) return fit(`#${task}  ${name}  at work`, terminal.width);
    const tries = result.tries > 1 ? `, ${result.tries} tries` : '';
    const cost = result.costUsd === null ? '' : `, $${result.costUsd.toFixed(4)}`;
    const why = result.why === '' ? '' : `: ${oneLine(result.why)}`;
    const text = `#${task}  ${name}  ${result.verdict}${tries}${cost}, ${elapsed(result.durationMs)}${why}`;
    return fit(text, terminal.width);
  });
}

export function recordedLines(tasks: readonly RecordedTaskView[], terminal: Terminal): string[] {
  if (tasks.length === 0) return ['No task has landed yet. Tasks are recorded when they land.'];
  return tasks.map(({ number, title, unusable, files }) => {
    const state = unusable === null ? `${files.length} files` : `cannot be replayed: ${unusable}`;
    return fit(`#${number}  ${oneLine(title)}  (${state})`, terminal.width);
  });
}
