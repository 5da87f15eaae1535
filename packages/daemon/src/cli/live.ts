import { type Api, alsoText, causesOf, type ProjectStatus, progressWords, type WorkerView } from '@tidemill/contract';
import { eventText, isNews, TaskNames } from './describe.ts';
import { elapsed, fit, pad, type Terminal, timeOfDay, wrap } from './terminal.ts';

/** The shortest time between two redraws. */
const REDRAW_MS = 100;
const SECOND_MS = 1000;

/** Subscribes to the texts of the terminal channel; returns the unsubscribe function. */
export type OnNotice = (show: (text: string) => void) => () => void;

/** Shows what happens to a project until the signal aborts: one block in place on a terminal, plain lines elsewhere. */
export async function watchProject(
  api: Api,
  projectId: string,
  terminal: Terminal,
  options: { isPlain: boolean; signal: AbortSignal; onNotice?: OnNotice },
): Promise<void> {
  const { lastSeq, holds } = await api.status({ project: projectId });
  if (options.isPlain || !terminal.isLive) {
    for (const hold of holds) terminal.line(hold);
    const off = options.onNotice?.((text) => {
      for (const line of text.split('\n')) terminal.line(fit(line, logWidth(terminal)));
    });
    const steps = new PreparingLines(api, projectId, terminal);
    return printLines(api, projectId, terminal, lastSeq, options.signal).finally(() => {
      steps.stop();
      off?.();
    });
  }
  const block = new LiveBlock(api, projectId, terminal);
  const off = options.onNotice?.((text) => block.announce(text.split('\n')));
  try {
    await block.follow(lastSeq, options.signal);
  } finally {
    off?.();
    await block.close();
  }
}

/** Nobody widens a log later, so its lines keep their reasons. */
const LOG_WIDTH = 240;
const logWidth = ({ isLive, width }: Terminal) => (isLive ? width : LOG_WIDTH);

async function printLines(api: Api, project: string, terminal: Terminal, after: number, signal: AbortSignal) {
  const names = new TaskNames(api);
  for await (const event of api.events({ project, after, follow: true }, signal)) {
    if (!isNews(event)) continue;
    terminal.line(fit(`${timeOfDay(event.at)}  ${eventText(event, await names.of(event))}`, logWidth(terminal)));
  }
}

/** No event tells of `prepare` steps, which may take minutes: says when one begins, and how long it took. */
class PreparingLines {
  readonly #look: () => Promise<ProjectStatus>;
  readonly #terminal: Terminal;
  readonly #tick: NodeJS.Timeout;
  #shown: ProjectStatus['preparing'] = [];

  constructor(api: Api, project: string, terminal: Terminal) {
    this.#look = () => api.status({ project });
    this.#terminal = terminal;
    // When the daemon stops, the events end as well, and the caller ends this.
    this.#tick = setInterval(() => this.#show().catch(() => this.stop()), SECOND_MS);
  }

  stop(): void {
    clearInterval(this.#tick);
  }

  async #show(): Promise<void> {
    const { preparing } = await this.#look();
    const is = (step: string) => (other: { step: string }) => other.step === step;
    for (const { step, elapsedMs } of this.#shown)
      if (!preparing.some(is(step))) this.#say(`prepared: ${firstLine(step)}, ${elapsed(elapsedMs)}`);
    for (const { step } of preparing) if (!this.#shown.some(is(step))) this.#say(`preparing: ${firstLine(step)}`);
    this.#shown = preparing;
  }

  #say(text: string): void {
    this.#terminal.line(fit(`${timeOfDay(Date.now())}  ${text}`, logWidth(this.#terminal)));
  }
}

/** Redraws a few lines at the end of the screen; announcements above them scroll as usual. */
class LiveBlock {
  readonly #api: Api;
  readonly #project: string;
  readonly #terminal: Terminal;
  readonly #names: TaskNames;
  #height = 0;
  #announced: string[] = [];
  #drawing: Promise<void> | null = null;
  #isDue = false;
  #hasWork = false;

  constructor(api: Api, project: string, terminal: Terminal) {
    this.#api = api;
    this.#project = project;
    this.#terminal = terminal;
    this.#names = new TaskNames(api);
  }

  async follow(after: number, signal: AbortSignal): Promise<void> {
    this.draw();
    // Redraw elapsed times only while there is work.
    const tick = setInterval(() => this.#hasWork && this.draw(), SECOND_MS);
    const resized = () => this.draw();
    this.#terminal.out.on('resize', resized);
    try {
      for await (const event of this.#api.events({ project: this.#project, after, follow: true }, signal)) {
        if (event.body.type === 'merge.landed' || event.body.type === 'alert.raised') {
          const text = eventText(event, await this.#names.of(event));
          this.#announced.push(`${timeOfDay(event.at)}  ${text}`);
        }
        this.draw();
      }
    } finally {
      clearInterval(tick);
      this.#terminal.out.off('resize', resized);
    }
  }

  /** Rings the terminal's bell, because the person may be looking elsewhere. */
  announce(lines: string[]): void {
    this.#terminal.out.write('\u0007');
    this.#announced.push(...lines);
    this.draw();
  }

  draw(): void {
    this.#isDue = true;
    this.#drawing ??= this.#drawAll().finally(() => {
      this.#drawing = null;
    });
  }

  async close(): Promise<void> {
    this.draw();
    await this.#drawing;
  }

  async #drawAll(): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false;
      const status = await this.#api.status({ project: this.#project });
      this.#hasWork = status.running && !status.idle;
      // A block taller than the screen cannot be redrawn in place.
      const rows = Math.max(3, (this.#terminal.out.rows || 24) - 1);
      this.#put(statusLines(status, this.#terminal).slice(0, rows));
      await new Promise((resolve) => setTimeout(resolve, REDRAW_MS));
    }
  }

  #put(lines: string[]): void {
    const up = this.#height > 0 ? `\u001b[${this.#height}A` : '';
    const announced = this.#announced.splice(0).map((line) => fit(line, this.#terminal.width));
    const text = [...announced, ...lines].map((line) => `\u001b[2K${line}\n`).join('');
    this.#terminal.out.write(`${up}\r${text}\u001b[0J`);
    this.#height = lines.length;
  }
}

const firstLine = (step: string) => step.trim().split('\n')[0] ?? '';

const QUIET = ['verifier', 'merger'];

/** On a task, or on a job. */
const isBusy = ({ task, mode }: WorkerView) => task !== null || mode !== null;

/** The state of a project in a few lines: stages, workers, what needs a person. Also what `tidemill status` prints. */
export function statusLines(status: ProjectStatus, terminal: Terminal): string[] {
  const { paint, width } = terminal;
  const { project } = status;
  const needsYou = causesOf(status.needsYou);
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
  // Questions of parked tasks are listed above, and celebratory ones need no answer.
  const waiting = status.questions.filter(({ task, type }) => task?.stage !== 'needs_info' && type !== 'celebratory');
  if (waiting.length > 0) {
    lines.push('', paint('yellow', `  questions: ${waiting.length}`));
    for (const { ref, text, command } of waiting.slice(0, 3)) {
      lines.push(fit(`  ${ref} ${text}`, width));
      lines.push(paint('dim', fit(`     ${command}`, width)));
    }
  }
  return lines;
}

function stateText({ running, idle, workers, total, holds }: ProjectStatus): string {
  if (!running) return total > 0 ? 'not running; start with tidemill up' : 'not running';
  const busy = workers.filter(isBusy).length;
  const isHeld = workers.length > 0 && workers.every(({ desired }) => desired !== 'running');
  if (isHeld) return `${busy > 0 ? 'pausing' : 'paused'}; continue with tidemill resume`;
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
