import { alsoText, causesOf, type ProjectStatus, progressWords, type WorkerView } from '@tidemill/contract';
import { elapsed, fit, pad, type Terminal, wrap, wrapLines } from './terminal.ts';

/** Of a `prepare` step that is a script. */
export const firstLine = (step: string) => step.trim().split('\n')[0] ?? '';

const QUIET = ['verifier', 'merger'];

/** On a task, or on a job. */
const isBusy = ({ task, mode }: WorkerView) => task !== null || mode !== null;

/** The state of a project in a few lines: stages, workers, what needs a person. Also what `tidemill status` prints. */
export function statusLines(status: ProjectStatus, terminal: Terminal): string[] {
  const { paint, width } = terminal;
  const { project } = status;
  const alerts = urgentAlerts(status);
  const needsYou = causesOf(
    status.needsYou,
    alerts.map(({ text }) => text),
  );
  const lines = [
    paint('bold', fit(`${project.name} → ${project.target}`, width - 20)) + paint('dim', `  ${stateText(status)}`),
    '',
  ];
  const stages = Object.entries(status.tasks).filter(([, count]) => count > 0);
  const counts = stages.map(([stage, count]) => `${stage} ${paint('bold', String(count))}`).join('  ');
  lines.push(`  ${counts || 'no tasks yet; add one with tidemill task add "…"'}`, '');
  for (const hold of status.holds) lines.push(...wrap(hold, width - 4).map((line) => paint('yellow', `  ${line}`)), '');
  for (const worker of status.workers) {
    if (isBusy(worker) || worker.desired !== 'running' || !QUIET.includes(worker.role))
      lines.push(workerLine(worker, terminal), ...progressLine(worker, terminal));
  }
  for (const { step, elapsedMs } of status.preparing)
    lines.push(fit(`  preparing: ${firstLine(step)}, ${elapsed(elapsedMs)}`, width));
  if (needsYou.length > 0) {
    lines.push('', paint('yellow', `  needs you: ${needsYou.length}`));
    for (const { number, title, why, command, also } of needsYou.slice(0, 5)) {
      lines.push(fit(`  #${number} ${title}${alsoText(also)}: ${why}`, width));
      if (command) lines.push(paint('dim', fit(`     ${command}`, width)));
    }
    if (needsYou.length > 5) lines.push(paint('dim', `  and ${needsYou.length - 5} more: tidemill status --json`));
  }
  if (alerts.length > 0) {
    lines.push('', paint('yellow', `  alerts: ${alerts.length}`));
    for (const { title, text, command } of alerts.slice(0, MOST_ALERTS)) {
      lines.push(
        ...wrapLines(`${title}: ${text}`, width - 4)
          .slice(0, MOST_ALERT_LINES)
          .map((line) => `  ${line}`),
      );
      lines.push(paint('dim', fit(`     ${command}`, width)));
    }
    if (alerts.length > MOST_ALERTS)
      lines.push(paint('dim', `  and ${alerts.length - MOST_ALERTS} more: tidemill inbox`));
  }
  // Those of tasks that stand still are listed above, and celebratory ones need no answer.
  const isListed = (stage: string | undefined) => stage === 'needs_info' || stage === 'blocked';
  const waiting = status.questions.filter(({ task, type }) => !isListed(task?.stage) && type !== 'celebratory');
  if (waiting.length > 0) {
    lines.push('', paint('yellow', `  questions: ${waiting.length}`));
    for (const { ref, text, command } of waiting.slice(0, 3)) {
      lines.push(fit(`  ${ref} ${text}`, width));
      lines.push(paint('dim', fit(`     ${command}`, width)));
    }
  }
  return lines;
}

/** Less severe alerts are only in the inbox. */
const URGENT = ['critical', 'error', 'warning'];
const MOST_ALERTS = 3;
const MOST_ALERT_LINES = 5;

/** Without those whose cause a hold tells already: the target that fails its gates. */
function urgentAlerts({ alerts, holds }: ProjectStatus) {
  return alerts.filter(
    ({ severity, actions }) =>
      URGENT.includes(severity) && !(holds.length > 0 && actions.some(({ id }) => id === 'repair')),
  );
}

/** A person holds all workers, as after an emergency stop. */
const areHeld = (workers: WorkerView[]) => workers.length > 0 && workers.every(({ desired }) => desired !== 'running');

/** Why nothing new starts, a line each. */
export const holdLines = ({ holds, workers }: ProjectStatus): string[] =>
  areHeld(workers)
    ? ['All workers are paused or stopped, so no work starts. `tidemill resume` starts them.', ...holds]
    : holds;

function stateText({ running, idle, workers, total, holds }: ProjectStatus): string {
  if (!running) return total > 0 ? 'not running; start with tidemill up' : 'not running';
  const busy = workers.filter(isBusy).length;
  if (areHeld(workers)) return `${busy > 0 ? 'pausing' : 'paused'}; continue with tidemill resume`;
  return busy > 0 ? `${busy} working` : holds.length > 0 ? 'no new work starts' : idle ? 'idle' : 'starting';
}

function workerLine(worker: WorkerView, { paint, width }: Terminal): string {
  const name = pad(worker.name, 14);
  const isHeld = worker.desired !== 'running';
  const state = worker.desired === 'frozen' ? 'frozen' : worker.status;
  if (!worker.task && worker.mode && !isHeld)
    return `  ${paint('green', name)}${state} (${worker.mode}) ${elapsed(worker.elapsedMs)}`;
  if (!worker.task) {
    const error = worker.status === 'crashed' || worker.status === 'failed' ? `: ${worker.lastError ?? ''}` : '';
    return `  ${paint(error ? 'red' : isHeld ? 'gray' : 'yellow', name)}${paint('dim', fit(`${state}${error}`, width - 18))}`;
  }
  const { number, title, stage } = worker.task;
  const percent = worker.progress?.percent ?? null;
  const progress = percent === null ? '' : ` ${Math.round(percent)} %`;
  const right = `${pad(isHeld ? state : `${stage}${progress}`, 15)}${elapsed(worker.elapsedMs).padStart(9)}`;
  const colour = worker.role === 'reviewer' ? 'blue' : 'green';
  return `  ${paint(colour, name)}${pad(fit(`#${number} ${title}`, width - 44), width - 42)}${right}`;
}

/** What its agent shows: steps, turns, tools, time, and what it does now. */
function progressLine({ task, progress, runMs, usualMs }: WorkerView, { paint, width }: Terminal): string[] {
  if (!task || !progress) return [];
  const time = runMs !== null && usualMs !== null ? `${elapsed(runMs)}, usually ${elapsed(usualMs)}` : '';
  const now = progress.text || progress.tools?.current || '';
  const parts = [progressWords(progress), time, now].filter((part) => part !== '');
  return parts.length === 0 ? [] : [paint('dim', fit(`${' '.repeat(16)}${parts.join(' · ')}`, width))];
}
