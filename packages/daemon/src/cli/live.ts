import type { Api, ProjectStatus } from '@tidemill/contract';
import { eventText, isNews, TaskNames } from './describe.ts';
import { firstLine, holdLines, statusLines } from './status-lines.ts';
import { elapsed, fit, type Terminal, timeOfDay } from './terminal.ts';

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
  const status = await api.status({ project: projectId });
  const { lastSeq } = status;
  if (options.isPlain || !terminal.isLive) {
    for (const hold of holdLines(status)) terminal.line(hold);
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
