import { setTimeout as delay } from 'node:timers/promises';
import type { AgentEnvelope, FailureClass } from '@tidemill/contract';
import type { ResultExpectation } from '@tidemill/core';
import type { AgentEnd, AgentSink, ProcessControl } from '../../ports.ts';
import { TimeLimit } from '../../process/time-limit.ts';
import { checkResult, type ResultReading, readResult } from '../result.ts';
import type { ControlAnswer } from './control.ts';
import { byWords, classify, type Trouble } from './failure.ts';
import { LiveText } from './live-text.ts';
import { type Block, type ClaudeMessage, pieceIn, type ResultMessage, readMessage, usageIn } from './messages.ts';
import type { ClaudeProcess } from './process.ts';
import type { ClaudeProgress } from './progress.ts';
import type { RequestCosts } from './request-costs.ts';

/** How long an interrupted turn may take to report its cost. Part of the five seconds of a stop. */
export const INTERRUPT_MS = 1_000;

export type Halt = 'stopped' | 'timeout';

const isToolResult = ({ type, is_error }: Block) => type === 'tool_result' && is_error !== true;

type Failed = Extract<AgentEnd, { kind: 'failed' }>;
const failed = (failure: FailureClass, message: string, more: Partial<Failed> = {}): AgentEnd => ({
  kind: 'failed',
  failure,
  message,
  exitCode: null,
  ...more,
});

export interface ConversationParts {
  expected: ResultExpectation;
  prompt: string;
  /** A person reads what the agent writes while it writes. */
  isReadAlong: boolean;
  sink: AgentSink;
  costs: RequestCosts;
  progress: ClaudeProgress;
  /** Starts the program. `hear` gets its messages. */
  open(hear: (raw: unknown) => void): ClaudeProcess;
  /** What the program must agree to before it gets the prompt. */
  terms: ControlAnswer;
  /** Whether a guard was asked about a tool. */
  hasAsked(): boolean;
}

/**
 * One conversation with Claude Code, in one process:
 *
 *   prompt ──▶ turn ──▶ result fits ─────────────────────────▶ end
 *               │└────▶ missing or unfit ──▶ repair turn ──▶ end
 *               └─stop, out of time──▶ interrupted (tells its cost) ──▶ process ended ──▶ end
 */
export class Conversation {
  readonly #parts: ConversationParts;
  #process: ClaudeProcess | null = null;
  #halt: Halt | null = null;
  /** Resolves with the result of the current turn. */
  #heard = Promise.withResolvers<void>();
  /** Resolves when no other turn follows. */
  readonly #over = Promise.withResolvers<void>();
  #turns = 0;
  #last: ResultMessage | null = null;
  #envelope: AgentEnvelope | null = null;
  #problem = '';
  /** The message that is being streamed. */
  #answering: { id: string; model: string } | null = null;
  #trouble: Trouble = { kind: '', retryAt: undefined };
  readonly #liveText = new LiveText();
  /** Why this program cannot be used. */
  #unfit: string | null = null;

  constructor(parts: ConversationParts) {
    this.#parts = parts;
  }

  /** Whether this turn only fixes the form of the result. */
  get isRepairing(): boolean {
    return this.#turns > 0;
  }

  /** Runs to the end. No process is left when it resolves. `leftMs`: the remaining time. */
  async run(timeoutMs: number, leftMs: number, control?: ProcessControl): Promise<AgentEnd> {
    const limit = new TimeLimit(Math.max(1, leftMs), () => void this.halt('timeout'));
    const letGo = control?.take(limit);
    const broken = await this.#converse();
    limit.kill();
    letGo?.();
    await this.#process?.leave();
    this.#parts.costs.breakOff(Date.now());
    return this.#judge(broken, timeoutMs);
  }

  /** Stops the conversation: first with an interrupt, so that the cost is reported, then by killing the process. */
  async halt(why: Halt): Promise<void> {
    if (this.#halt !== null) return;
    this.#halt = why;
    const over = new AbortController();
    this.#process?.interrupt().catch(() => undefined); // if the interrupt fails, the process is ended below
    await Promise.race([
      this.#heard.promise,
      this.#process?.end,
      delay(INTERRUPT_MS, undefined, { signal: over.signal }).catch(() => undefined),
    ]);
    over.abort();
    this.#process?.endInput();
    await this.#process?.stop();
    this.#over.resolve();
  }

  /** The error that ended it early, if any. */
  async #converse(): Promise<Error | null> {
    const { prompt, terms, open, sink, isReadAlong } = this.#parts;
    if (this.#halt !== null) return null;
    this.#process = open((raw) => {
      const piece = isReadAlong ? pieceIn(raw) : '';
      if (piece !== '') sink.output(this.#liveText.piece(piece));
      const message = readMessage(raw);
      if (message) this.#hear(message);
    });
    try {
      this.#unfit = await this.#process.begin(terms);
      if (this.#unfit !== null) await this.#process.stop();
      else this.#process.say(prompt);
      await Promise.race([this.#process.end, this.#over.promise]);
      return null;
    } catch (error) {
      return error as Error;
    } finally {
      this.#heard.resolve();
    }
  }

  #hear(message: ClaudeMessage): void {
    const { sink, progress } = this.#parts;
    const report = progress.take(message);
    if (report) sink.progress(report);
    const text = this.#liveText.message(message);
    if (text !== '') sink.output(text);
    this.#account(message);
    switch (message.type) {
      case 'assistant':
        if (message.error !== undefined) this.#trouble.kind = message.error;
        return;
      case 'rate_limit_event': {
        const { status, resetsAt } = message.rate_limit_info;
        if (status === 'rejected' && resetsAt !== undefined) this.#trouble.retryAt = resetsAt * 1000;
        return;
      }
      case 'system':
        if (message.subtype === 'init') sink.session(message.session_id);
        else if (message.subtype === 'api_retry') this.#trouble.retryAt = Date.now() + message.retry_delay_ms;
        return;
      case 'user':
        if (message.message.content.some(isToolResult) && !this.#parts.hasAsked()) this.#expel();
        return;
      case 'result':
        this.#conclude(message);
    }
  }

  /** Hooks can be turned off for a whole machine. Then the program says that they hold, but never calls one. */
  #expel(): void {
    this.#unfit = [
      'Claude Code used a tool without asking the guards, so it was stopped.',
      'Its hooks are turned off, perhaps by managed settings of this machine: allow hooks, or use another agent.',
    ].join(' ');
    void this.#process?.stop();
  }

  /** Handles messages about requests and their cost. */
  #account(message: ClaudeMessage): void {
    const { costs } = this.#parts;
    if (message.type === 'system') {
      if (message.subtype === 'status') costs.asks(Date.now());
      else if (message.subtype === 'api_retry') costs.asks(Date.now() + message.retry_delay_ms);
    } else if (message.type === 'assistant') {
      const { id, model, usage } = message.message;
      // A message by Claude Code itself replaces a missing answer of the vendor.
      if (model === '<synthetic>') costs.refused();
      else if (usage) costs.answer(id, model, usage);
    } else if (message.type === 'stream_event') {
      const { event } = message;
      if (event.type === 'message_start') this.#answering = event.message;
      if (this.#answering) costs.answer(this.#answering.id, this.#answering.model, usageIn(event));
    }
  }

  #conclude(result: ResultMessage): void {
    this.#parts.costs.settle(result);
    if (this.#halt === null) this.#parts.costs.refused(); // a turn that ends by itself has no pending request
    this.#last = result;
    this.#heard.resolve();
    this.#turns += 1;
    const isOver = result.is_error || result.subtype !== 'success' || this.#halt !== null;
    const read = isOver ? null : this.#read(result);
    if (read && 'envelope' in read) this.#envelope = read.envelope;
    else if (read) this.#problem = 'invalid' in read ? read.invalid : read.missing;
    if (isOver || this.#envelope || this.#turns > 1) {
      this.#over.resolve();
      return;
    }
    this.#heard = Promise.withResolvers();
    this.#process?.say(
      `Your work is not lost, but your result could not be read. ${this.#problem}\n\nChange nothing else now. Hand in the result again with the StructuredOutput tool.`,
    );
  }

  #read({ structured_output, result }: ResultMessage): ResultReading {
    const { expected } = this.#parts;
    if (structured_output !== undefined) return checkResult(structured_output, expected);
    return readResult(result, expected);
  }

  async #judge(broken: Error | null, timeoutMs: number): Promise<AgentEnd> {
    if (this.#halt === 'stopped') return failed('crash', 'stopped');
    if (this.#halt === 'timeout') return failed('timeout', `Claude Code did not end within ${timeoutMs / 1000} s`);
    if (this.#unfit !== null) return failed('spawn', this.#unfit);
    if (this.#envelope) return { kind: 'result', envelope: this.#envelope };
    const result = this.#last;
    if (!result) return this.#crashed(broken);
    if (result.is_error || result.subtype !== 'success') {
      const { failure, message } = classify(result, this.#trouble);
      const { retryAt } = this.#trouble;
      return failed(failure, message, failure === 'rate_limit' && retryAt !== undefined ? { retryAt } : {});
    }
    if (this.#turns > 1) return failed('invalid_result', `${this.#problem} It was asked for twice.`);
    return broken ? this.#crashed(broken) : failed('no_result', this.#problem);
  }

  async #crashed(broken: Error | null): Promise<AgentEnd> {
    const process = this.#process;
    const end = await process?.end;
    if (!end || end.kind === 'unstartable')
      return failed('spawn', end?.message ?? broken?.message ?? 'Claude Code was not started');
    if (end.kind === 'over_limit') return failed('crash', `Claude Code ${end.message}`);
    const words = process?.lastWords.trim().split('\n').slice(-8).join('\n') ?? '';
    const how = end.kind !== 'exited' ? end.kind : end.signal ? `killed by ${end.signal}` : `exit code ${end.exitCode}`;
    const said = [`Claude Code ended without a result (${how})`, words || broken?.message].filter(Boolean).join(': ');
    return failed(byWords(words) ?? 'crash', said, { exitCode: end.kind === 'exited' ? end.exitCode : null });
  }
}
