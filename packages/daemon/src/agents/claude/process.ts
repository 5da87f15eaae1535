import { setTimeout as delay } from 'node:timers/promises';
import { type Child, type ChildEnd, type ChildSpec, startChild } from '../../process/child.ts';
import type { ControlAnswer, ControlChannel } from './control.ts';
import { problemOfReply } from './program.ts';

const LAST_WORDS = 2000;
/** How long the program may take to start and confirm the hooks. */
const BEGIN_MS = 60_000;
/** How long the program may take to exit after its input was closed. */
const LEAVE_MS = 3_000;

export type ClaudeChild = Omit<ChildSpec, 'stdin' | 'onOutput'>;

/**
 * Claude Code's process, started like every other child: in the sandbox and marked, so that it and its descendants end
 * with the daemon.
 */
export class ClaudeProcess {
  readonly end: Promise<ChildEnd>;
  lastWords = '';
  readonly #child: Child;
  readonly #channel: ControlChannel;

  constructor(spec: ClaudeChild, channel: ControlChannel) {
    this.#channel = channel;
    this.#child = startChild({
      ...spec,
      stdin: (input) => channel.connect(input),
      onOutput: (chunk, from) => (from === 'stdout' ? channel.hear(chunk) : this.#note(chunk)),
    });
    this.end = this.#child.end.finally(() => channel.close());
  }

  /** Agrees on the hooks and the result. No prompt may be sent before. Returns why this program cannot be used. */
  async begin(initialize: ControlAnswer): Promise<string | null> {
    const over = new AbortController();
    const late = delay(BEGIN_MS, null, { signal: over.signal });
    const reply = this.#channel.ask({ ...initialize, subtype: 'initialize' });
    const said = await Promise.race([reply, late]).finally(() => over.abort());
    return problemOfReply(said);
  }

  say(text: string): void {
    this.#channel.say(text);
  }

  /** Ends the turn. The program then reports what it cost. */
  async interrupt(): Promise<void> {
    await this.#channel.ask({ subtype: 'interrupt' });
  }

  endInput(): void {
    this.#channel.endInput();
  }

  /** Resolves when nothing of it is left. */
  stop(): Promise<void> {
    return this.#child.stop();
  }

  /** Lets the program end by itself, and stops it when it does not. */
  async leave(): Promise<void> {
    this.endInput();
    const over = new AbortController();
    const patience = delay(LEAVE_MS, 'late' as const, { signal: over.signal }).catch(() => null);
    if ((await Promise.race([this.end, patience])) === 'late') await this.stop();
    over.abort();
    await this.end;
  }

  #note(chunk: Buffer): void {
    this.lastWords = (this.lastWords + chunk.toString('utf8')).slice(-LAST_WORDS);
  }
}
