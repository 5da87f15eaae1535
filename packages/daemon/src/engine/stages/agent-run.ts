import {
  type AskedQuestion,
  accountId,
  type EventBody,
  type Feedback,
  MODES,
  type Mode,
  plainLine,
  plainText,
  type Usage,
} from '@tidemill/contract';
import type { ShownChange } from '@tidemill/core';
import type { AgentBrief, AgentEnd, Briefing, GuardVerdict, RunLog, ToolCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { NOTHING_USED, withReport } from '../reactors/spending.ts';
import type { LeasedWork } from '../workers/leased-work.ts';

const RECORD_EVERY_MS = 1_000;
/** How long to wait for a store that cannot book what an agent has spent. */
const BOOK_AGAIN_MS = 1_000;
/** How often an agent that wants to end is asked to go on; after that the engine's own gates decide alone. */
const MAX_STOP_BLOCKS = 3;
/** How much of what an agent said last is handed to the one that goes on where its context ended. */
const LAST_WORDS = 6_000;

/** What an agent is given for one attempt. */
export interface RunBrief {
  briefing: Briefing;
  /** Null for a job. */
  task: AgentBrief['task'];
  /** Runs of the same work and mode before this one. */
  attempt: number;
  /** For a reviewer: what its evidence may point at. */
  shown?: ShownChange;
}

export interface RunOptions {
  runId: string;
  mode: Mode;
  /** The vendor's session to go on with. */
  session?: string | null;
  brief(feedback: Feedback[]): Promise<RunBrief>;
  /** What an agent that wants to end must still put right, or null. */
  beforeStop?(): Promise<string | null>;
  /** Asks people while the agent works. Left out where nobody can be asked. */
  ask?(questions: AskedQuestion[]): Promise<string>;
}

/** One run's agent: started as often as the gates send it back, its output in one log, its usage added up. */
export class AgentRun {
  usage: Usage = NOTHING_USED;
  /** Up to here it may spend without being asked: what was set aside for it. */
  #allowedUsd = 0;
  readonly #deps: EngineDeps;
  readonly #leased: LeasedWork;
  readonly #runId: string;
  readonly #mode: Mode;
  readonly #log: RunLog;
  readonly #briefFor: RunOptions['brief'];
  readonly #askPeople: RunOptions['ask'];
  /** What an agent that wants to end must still put right, or null; given by the stage. */
  readonly #beforeStop: () => Promise<string | null>;
  #attempt = 0;
  #stopBlocks = 0;
  #progressAt = 0;
  #isSpendingUntold = false;
  #booking: Promise<void> | null = null;
  /** What is being put on record beside the work. */
  readonly #notes = new Set<Promise<void>>();
  #session: string | null;
  /** What the run's record says; a session that is gone on with is this run's as well. */
  #recordedSession: string | null = null;
  #lastWords = '';
  #shown: ShownChange | undefined;
  #isCompacted = false;
  /** Questions on their way to the record: the run does not end before they are there. */
  readonly #asking: Promise<string>[] = [];

  constructor(deps: EngineDeps, leased: LeasedWork, { runId, mode, session, brief, beforeStop, ask }: RunOptions) {
    this.#deps = deps;
    this.#leased = leased;
    this.#runId = runId;
    this.#mode = mode;
    this.#log = deps.openRunLog(runId);
    this.#beforeStop = beforeStop ?? (async () => null);
    this.#briefFor = brief;
    this.#askPeople = ask;
    this.#session = session ?? null;
  }

  /**
   * Lets the agent work once. Returns only when nothing of it is left running; throws when the work must stop. One whose
   * context is full is followed, once, by a fresh one that is told what the first had come to.
   */
  async once(cwd: string, feedback: Feedback[]): Promise<AgentEnd> {
    const end = await this.#play(cwd, feedback);
    if (end.kind !== 'failed' || end.failure !== 'context_too_long' || this.#isCompacted) return end;
    this.#isCompacted = true;
    this.#session = null;
    return this.#play(cwd, [...feedback, { kind: 'agent', text: whereItWas(this.#lastWords), files: [] }]);
  }

  async #play(cwd: string, feedback: Feedback[]): Promise<AgentEnd> {
    this.#attempt += 1;
    const { briefing, task, attempt } = await this.#brief(feedback);
    if (this.#attempt === 1) this.#allowedUsd = (await this.#deps.store.run(this.#runId))?.reservedUsd ?? 0;
    const session = this.#deps.agentFor(this.#mode).start(
      {
        runId: this.#runId,
        cwd,
        timeoutMs: briefing.timeoutMs ?? MODES[this.#mode].limitMs,
        maxTurns: briefing.maxTurns ?? MODES[this.#mode].turns,
        model: briefing.model,
        tools: briefing.tools,
        resume: this.#session,
        control: this.#leased.control,
        guard: (call) => this.#guard(call, cwd),
        beforeStop: () => this.#askBeforeStop(),
        ask: this.#askPeople && ((questions) => this.#ask(questions)),
        brief: {
          mode: this.#mode,
          prompt: briefing.prompt,
          subjectId: this.#leased.fence.subjectId,
          task,
          attempt: attempt + this.#attempt,
          feedback,
          ...(this.#shown && { shown: this.#shown }),
        },
      },
      {
        output: (chunk) => this.#write(chunk),
        usage: (usage, settled) => this.#spend(usage, settled),
        progress: (percent, text) => this.#progress(percent, text),
        session: (id) => this.#knowSession(id),
        denied: (call, guard, reason) => this.#denied(call, guard, reason),
      },
    );
    const stop = () => void session.stop();
    this.#leased.signal.addEventListener('abort', stop, { once: true });
    if (this.#leased.signal.aborted) stop();
    const end = await session.end;
    this.#leased.signal.removeEventListener('abort', stop);
    await Promise.allSettled(this.#asking.splice(0));
    // An agent that is stopped tells its last costs as it goes; they belong to a run that nobody finishes. And a store
    // that is asked several things at once promises no order: once the run has ended, a denial of it would be refused.
    await Promise.all([this.#booking, ...this.#notes]);
    this.#leased.check();
    return end.kind === 'failed' ? { ...end, message: plainText(end.message) } : end;
  }

  async close(): Promise<void> {
    await this.#booking;
    await this.#log.close();
  }

  #write(chunk: string): void {
    this.#log.write(chunk);
    this.#leased.sign();
    this.#lastWords = `${this.#lastWords}${chunk}`.slice(-LAST_WORDS);
  }

  /** Of a reviewer: which files it was shown. */
  get shownFiles(): readonly string[] {
    return this.#shown?.files ?? [];
  }

  async #brief(feedback: Feedback[]): Promise<RunBrief> {
    const brief = await this.#briefFor(feedback);
    this.#shown = brief.shown;
    const { promptTokens, dropped } = brief.briefing;
    await this.#leased.must({ type: 'run.brief', runId: this.#runId, promptTokens, dropped });
    return brief;
  }

  #ask(questions: AskedQuestion[]): Promise<string> {
    const asking = this.#askPeople!(questions);
    this.#asking.push(asking);
    asking.catch((error: unknown) => this.#deps.onNote(`a question of run ${this.#runId} was not recorded`, error));
    return asking;
  }

  /** Every denial is on record before the run ends. */
  async #guard(call: ToolCall, worktree: string): Promise<GuardVerdict> {
    const verdict = await this.#deps.guards.check(call, { worktree, mode: this.#mode, cwd: call.cwd ?? worktree });
    if (verdict.kind === 'deny') this.#denied(call, verdict.guard, verdict.reason);
    return verdict;
  }

  #denied({ tool }: ToolCall, guard: string, reason: string): void {
    const said = { tool: plainLine(tool), reason: plainText(reason) };
    this.#note({ type: 'guard.deny', runId: this.#runId, guard, ...said }, 'a denial');
  }

  async #askBeforeStop(): Promise<string | null> {
    if (this.#stopBlocks >= MAX_STOP_BLOCKS) return null;
    const why = await this.#beforeStop();
    if (why !== null) this.#stopBlocks += 1;
    return why;
  }

  /**
   * Kept on record while the run goes on, so that an interrupted run is not free. One that passes what was set aside for
   * it stands still, at once, until the budget has given it more.
   */
  #spend(report: Usage, settled = 0): void {
    this.#leased.sign();
    this.usage = withReport(this.usage, report, settled);
    if ((this.usage.costUsd ?? 0) > this.#allowedUsd) this.#leased.control.halt();
    this.#isSpendingUntold = true;
    this.#booking ??= this.#book();
  }

  /** Every request, as soon as it is known: the budget can only stop what it hears of. */
  async #book(): Promise<void> {
    while (this.#isSpendingUntold) {
      this.#isSpendingUntold = false;
      const { usage } = this;
      try {
        const reply = await this.#leased.execute({ type: 'run.spend', runId: this.#runId, usage });
        if (reply.ok)
          this.#obey(
            reply.events.map(({ body }) => body),
            usage.costUsd ?? 0,
          );
      } catch (error) {
        this.#deps.onNote(`spending of run ${this.#runId} was not recorded`, error);
        if ((usage.costUsd ?? 0) > this.#allowedUsd) await this.#beforeBookingAgain();
      }
    }
    // In the same breath as the last look: what is told a moment later would find somebody who writes no more.
    this.#booking = null;
    this.#leased.control.goOn();
  }

  #obey(events: EventBody[], spentUsd: number): void {
    if (events.some(({ type }) => type === 'run.overdrawn'))
      this.#leased.kill('budget', `The run has cost ${spentUsd.toFixed(2)} USD, and the budget has no more.`);
    for (const event of events)
      if (event.type === 'budget.reserved' && event.accountId === accountId(this.#leased.fence.projectId))
        this.#allowedUsd = spentUsd + (event.reserved[this.#runId] ?? 0);
  }

  /** It stands still meanwhile: nothing may be spent that nobody has booked. */
  async #beforeBookingAgain(): Promise<void> {
    if (this.#leased.signal.aborted) return;
    this.#isSpendingUntold = true;
    await this.#deps.clock.sleep(BOOK_AGAIN_MS, this.#leased.signal);
  }

  #knowSession(session: string): void {
    this.#session = session;
    if (session === this.#recordedSession) return;
    this.#recordedSession = session;
    this.#note({ type: 'run.know_session', runId: this.#runId, session }, 'the session');
  }

  #progress(percent: number, text: string): void {
    this.#leased.sign();
    const now = this.#deps.clock.now();
    if (now - this.#progressAt < RECORD_EVERY_MS) return;
    this.#progressAt = now;
    this.#note({ type: 'run.progress', runId: this.#runId, percent, text: plainLine(text) }, 'progress');
  }

  #note(command: Parameters<LeasedWork['execute']>[0], what: string): void {
    const note = this.#record(command, what).finally(() => this.#notes.delete(note));
    this.#notes.add(note);
  }

  /** What is told on the way is written beside the work; if it cannot be, the work goes on and the log says so. */
  async #record(command: Parameters<LeasedWork['execute']>[0], what: string): Promise<void> {
    try {
      await this.#leased.execute(command);
    } catch (error) {
      this.#deps.onNote(`${what} of run ${this.#runId} was not recorded`, error);
    }
  }
}

function whereItWas(lastWords: string): string {
  return [
    'The agent before you worked on this until its context was full. Its changes are in this folder: look at them first',
    '(`git status`, `git diff`), keep what is good, and finish the rest. The last it said:',
    '',
    lastWords.trim() || '(nothing)',
  ].join('\n');
}
