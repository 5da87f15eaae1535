import {
  NO_PROGRESS,
  type ProgressChange,
  type ProgressReport,
  plainLine,
  type TodoItem,
  withoutSecrets,
} from '@tidemill/contract';
import type { Clock } from '../../ports.ts';

/** How often progress is recorded, at most. */
const RECORD_EVERY_MS = 1_000;
const MOST_STEPS = 100;
const LONGEST_TEXT = 300;

const NOTHING: ProgressChange = { percent: NO_PROGRESS.percent, text: NO_PROGRESS.text };

/**
 * Collects the reports of an agent and records what has changed, at most once a second. The last report is always
 * recorded.
 */
export class RunProgressRecorder {
  readonly #clock: Clock;
  readonly #record: (change: ProgressChange) => void;
  #known = NOTHING;
  #recorded = NOTHING;
  #recordedAt = Number.NEGATIVE_INFINITY;
  #wait: AbortController | null = null;

  constructor(clock: Clock, record: (change: ProgressChange) => void) {
    this.#clock = clock;
    this.#record = record;
  }

  take(report: ProgressReport): void {
    this.#known = { ...this.#known, ...cleaned(report) };
    if (this.#wait) return;
    const left = this.#recordedAt + RECORD_EVERY_MS - this.#clock.now();
    if (left <= 0) {
      this.#write();
      return;
    }
    this.#wait = new AbortController();
    void this.#clock.sleep(left, this.#wait.signal).then(() => this.#write());
  }

  /** The agent has ended: what is known now is recorded at once. */
  flush(): void {
    this.#wait?.abort();
    this.#write();
  }

  #write(): void {
    this.#wait = null;
    const { percent, text, turns, tools, todo } = this.#known;
    const before = this.#recorded;
    const isNew = (key: 'turns' | 'tools' | 'todo') => !isSame(this.#known[key], before[key]);
    const change: ProgressChange = {
      percent,
      text,
      ...(turns && isNew('turns') ? { turns } : {}),
      ...(tools && isNew('tools') ? { tools } : {}),
      ...(todo && isNew('todo') ? { todo } : {}),
    };
    if (Object.keys(change).length === 2 && percent === before.percent && text === before.text) return;
    this.#recorded = this.#known;
    this.#recordedAt = this.#clock.now();
    this.#record(change);
  }
}

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Agents write these texts: one short line each, without secrets. */
const line = (text: string) => plainLine(withoutSecrets(text)).slice(0, LONGEST_TEXT);

function cleaned({ percent, text, turns, tools, todo }: ProgressReport): ProgressReport {
  const steps = todo?.slice(0, MOST_STEPS).map((step) => ({ ...step, text: line(step.text) }));
  const active = steps?.find(({ status }) => status === 'active');
  return {
    ...(steps ? { todo: steps, percent: percentOf(steps), text: active?.text ?? '' } : {}),
    ...(percent === undefined ? {} : { percent: percent === null ? null : Math.min(100, Math.max(0, percent)) }),
    ...(text === undefined ? {} : { text: line(text) }),
    ...(turns ? { turns } : {}),
    ...(tools ? { tools: { ...tools, current: tools.current === null ? null : line(tools.current) } } : {}),
  };
}

/** The finished part of the agent's own list. */
function percentOf(todo: TodoItem[]): number | null {
  if (todo.length === 0) return null;
  return Math.round((todo.filter(({ status }) => status === 'done').length / todo.length) * 100);
}
