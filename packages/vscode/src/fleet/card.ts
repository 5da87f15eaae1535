import type { MetricFigures, WorkerOperation, WorkerStatus, WorkerView } from '@tidemill/contract';
import { elapsed, money, percent, stageText, todoWords } from '../words.ts';

export interface CardButton {
  operation: WorkerOperation | 'reassign';
  label: string;
}

/** Everything a card shows, in words. The webview only draws it. */
export interface Card {
  name: string;
  status: WorkerStatus;
  /** Beside the status: degraded, unresponsive, external. */
  notes: string[];
  task: { number: number; title: string } | null;
  /** The stage, or what an agent without a task does. */
  doing: string;
  /** When it began, by this machine's clock; null when nothing is timed. */
  since: number | null;
  progress: { percent: number | null; text: string } | null;
  /** Why it stopped working. */
  error: string | null;
  /** `error` ended its work, and is not just the last one. */
  isCrashed: boolean;
  buttons: CardButton[];
  figures: { name: string; value: string; grade: Grade | null }[];
}
type Grade = 'good' | 'fair' | 'poor';

const CRASHED: WorkerStatus[] = ['crashed', 'failed'];

export function cardOf(worker: WorkerView, figures: MetricFigures | undefined, statusAt: number): Card {
  const { name, status, health, isOutside, task, elapsedMs, errors, lastError } = worker;
  const isCrashed = CRASHED.includes(status);
  const isBusy = task !== null || worker.mode !== null;
  return {
    name,
    status,
    notes: [...(health === 'healthy' ? [] : [health]), ...(isOutside ? ['external'] : [])],
    task: task && { number: task.number, title: task.title },
    doing: doingOf(worker),
    since: isBusy ? statusAt - elapsedMs : null,
    progress: progressOf(worker),
    error: lastError !== null && (isCrashed || errors > 0) ? lastError : null,
    isCrashed,
    buttons: buttonsOf(worker),
    figures: figures ? figuresOf(figures) : [],
  };
}

const HELD: Record<string, string> = { paused: 'pauses after this stage', frozen: 'frozen', stopped: 'stopping' };

function doingOf({ task, mode, desired, desiredBy, status }: WorkerView): string {
  const stage = mode ?? task?.stage;
  if (stage !== undefined && stage !== null) {
    const held = HELD[desired];
    return held ? `${stageText(stage)}, ${held}` : stageText(stage);
  }
  if (desired === 'stopped') return `Stopped by ${desiredBy || 'a person'}.`;
  if (desired === 'paused' || desired === 'frozen') return `Paused by ${desiredBy || 'a person'}.`;
  return status === 'idle' ? 'Waiting for work.' : 'Takes the next task automatically.';
}

/** An agent with a list shows its steps, a reviewer the criteria that it has judged. What is not known is not guessed. */
function progressOf({ progress, task, mode }: WorkerView): Card['progress'] {
  if (!task && !mode) return null;
  if (!progress) return { percent: null, text: '' };
  const { todo, turns, tools, text } = progress;
  const done = todo.filter(({ status }) => status === 'done').length;
  const active = todo.find(({ status }) => status === 'active')?.text;
  const known = todo.length > 0 ? (done / todo.length) * 100 : progress.percent;
  const parts = [
    ...(todo.length > 0 ? [todoWords(todo)] : []),
    ...(known === null ? [] : [`${Math.round(known)} %`]),
    ...(turns ? [`turn ${turns.used} of ${turns.limit}`] : []),
    ...(tools?.current ? [tools.current] : []),
    ...((active ?? text) ? [active ?? text] : []),
  ];
  return { percent: known, text: parts.join(' · ') };
}

/** At most three: a card is small. */
function buttonsOf({ desired, status, isOutside, task }: WorkerView): CardButton[] {
  if (isOutside) return task ? [{ operation: 'reassign', label: 'Reassign' }] : [];
  const stop: CardButton = { operation: 'stop', label: 'Stop' };
  if (CRASHED.includes(status)) return [{ operation: 'restart', label: 'Restart' }, stop];
  if (desired === 'stopped') return [{ operation: 'start', label: 'Start' }];
  const pause: CardButton =
    desired === 'running' ? { operation: 'pause', label: 'Pause' } : { operation: 'resume', label: 'Resume' };
  return [pause, stop, ...(task ? [{ operation: 'reassign' as const, label: 'Reassign' }] : [])];
}

const of = (value: number | null, words: (value: number) => string) => (value === null ? 'no data' : words(value));
const graded = (value: number | null, good: number, fair: number): Grade | null =>
  value === null ? null : value >= good ? 'good' : value >= fair ? 'fair' : 'poor';

/** The figures of a worker or of all, the most important first. */
export function figuresOf(figures: MetricFigures): Card['figures'] {
  const { completed, cycleTimeMs, firstReviewPassRate, errors, errorRate, costUsd, costPerTaskUsd, uptime } = figures;
  const perTask = errors === 0 || errorRate === null ? '' : `, ${errorRate.toFixed(2)} per task`;
  return [
    { name: 'Tasks done', value: completed.toLocaleString('en-US'), grade: null },
    { name: 'Cycle time', value: of(cycleTimeMs, elapsed), grade: null },
    {
      name: 'First review passed',
      value: of(firstReviewPassRate, percent),
      grade: graded(firstReviewPassRate, 0.8, 0.5),
    },
    {
      name: 'Errors',
      value: `${errors}${perTask}`,
      grade: errorRate === null ? null : graded(-errorRate, -0.25, -1),
    },
    { name: 'Cost', value: money(costUsd), grade: null },
    { name: 'Cost per task', value: of(costPerTaskUsd, money), grade: null },
    { name: 'Utilisation', value: percent(uptime), grade: null },
  ];
}
