import {
  type AskedQuestion,
  accountId,
  type EventBody,
  type Feedback,
  type HilConfig,
  MODES,
  type Mode,
  type ProgressReport,
  plainText,
  readUsage,
  type Usage,
} from '@tidemill/contract';
import type { Command, ShownChange } from '@tidemill/core';
import type { Agent, AgentBrief, AgentEnd, Briefing, RunLog } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { NOTHING_USED, withReport } from '../reactors/spending.ts';
import type { LeasedWork } from '../workers/leased-work.ts';
import { HeldRequests } from './held-requests.ts';
import { RunGuard } from './run-guard.ts';
import { RunProgressRecorder } from './run-progress.ts';

/** Pause before spending that could not be recorded is recorded again. */
const RECORD_AGAIN_MS = 1_000;
/** How often an agent that wants to stop is asked to continue. After that only the engine's gates decide. */
const MAX_STOP_BLOCKS = 3;
/** How much of the last output is passed to the agent that continues after a full context. */
const LAST_OUTPUT_CHARS = 6_000;

/** What an agent is given for one attempt. */
export interface RunBrief {
  briefing: Briefing;
  /** What it is told that was learned: `L7`, or the file it is from. */
  lessons?: string[];
  /** Records what it is told. */
  record?: Command | null;
  /** Null for a job. */
  task: AgentBrief['task'];
  /** Previous runs of the same work and mode. */
  attempt: number;
  /** What the agent may decide, if the task has its own rules. */
  hilConfig?: HilConfig;
  /** For a reviewer: what its evidence may refer to. */
  shown?: ShownChange;
}

export interface RunOptions {
  runId: string;
  mode: Mode;
  /** The mode that the agent and the guards are told, if it is another one. */
  playedMode?: Mode;
  /** Default: the one that is configured for the mode. */
  agent?: Agent;
  /** The vendor's session to resume. */
  session?: string | null;
  brief(feedback: Feedback[]): Promise<RunBrief>;
  /** Returns what an agent that wants to stop must still fix, or null. */
  beforeStop?(): Promise<string | null>;
  /** Asks a person while the agent works. Absent where questions are not possible. */
  ask?(questions: AskedQuestion[]): Promise<string>;
}

/**
 * The agent of one run. It is started again each time the gates send it back. All its output is in one log, and its
 * usage is added up.
 */
export class AgentRun {
  usage: Usage = NOTHING_USED;
  /** The reserved budget: it may spend this much without a check. */
  #allowedUsd = 0;
  readonly #held = new HeldRequests();
  readonly #deps: EngineDeps;
  readonly #leased: LeasedWork;
  readonly #runId: string;
  readonly #mode: Mode;
  readonly #agent: Agent | undefined;
  readonly #isReplay: boolean;
  readonly #log: RunLog;
  readonly #progressed: RunProgressRecorder;
  readonly #guard: RunGuard;
  readonly #briefFor: RunOptions['brief'];
  readonly #askPeople: RunOptions['ask'];
  /** Returns what an agent that wants to stop must still fix, or null. Set by the stage. */
  readonly #beforeStop: () => Promise<string | null>;
  #attempt = 0;
  #stopBlocks = 0;
  #hasUnrecordedSpending = false;
  #recording: Promise<void> | null = null;
  /** Records that are being written in the background. */
  readonly #notes = new Set<Promise<void>>();
  #session: string | null;
  /** The session in the run's record. A resumed session is recorded for this run too. */
  #recordedSession: string | null = null;
  #shown: ShownChange | undefined;
  #isCompacted = false;
  #hasAsked = false;
  /** Questions that are being recorded. The run waits for them before it ends. */
  readonly #pendingQuestions: Promise<string>[] = [];

  constructor(deps: EngineDeps, leased: LeasedWork, options: RunOptions) {
    const { runId, mode, playedMode, agent, session, brief, beforeStop, ask } = options;
    this.#deps = deps;
    this.#leased = leased;
    this.#runId = runId;
    this.#mode = playedMode ?? mode;
    this.#agent = agent;
    this.#isReplay = mode === 'replay';
    this.#log = deps.openRunLog(runId);
    this.#progressed = new RunProgressRecorder(deps.clock, (change) =>
      this.#note({ type: 'run.progress', runId, ...change }, 'progress'),
    );
    this.#guard = new RunGuard(deps, {
      ...{ runId, mode: this.#mode, subjectId: leased.fence.subjectId },
      note: (command, what) => this.#note(command, what),
    });
    this.#beforeStop = beforeStop ?? (async () => null);
    this.#briefFor = brief;
    this.#askPeople = ask;
    this.#session = session ?? null;
  }

  /**
   * Runs the agent once. Returns only when all its processes have ended, and throws when the work must stop. If the
   * context is full, a new agent continues once, with the last output of the first.
   */
  async once(cwd: string, feedback: Feedback[]): Promise<AgentEnd> {
    const end = await this.#play(cwd, feedback);
    if (end.kind !== 'failed' || end.failure !== 'context_too_long' || this.#isCompacted) return end;
    this.#isCompacted = true;
    this.#session = null;
    return this.#play(cwd, [...feedback, { kind: 'agent', text: handover(this.#leased.lastOutput), files: [] }]);
  }

  async #play(cwd: string, feedback: Feedback[]): Promise<AgentEnd> {
    this.#attempt += 1;
    const { briefing, task, attempt, hilConfig } = await this.#brief(feedback);
    if (this.#attempt === 1) this.#allowedUsd = (await this.#deps.store.run(this.#runId))?.reservedUsd ?? 0;
    const agent = this.#agent ?? this.#deps.agentFor(this.#mode);
    // A replay must not find out what became of its task, nor be told more than its variant.
    const access = this.#isReplay
      ? undefined
      : this.#deps.runAccess?.open({
          runId: this.#runId,
          projectId: this.#leased.fence.projectId,
          subjectId: this.#leased.fence.subjectId,
          taskNumber: task?.number ?? null,
          mode: this.#mode,
          agent: agent.label,
          folder: cwd,
        });
    const session = agent.start(
      {
        runId: this.#runId,
        cwd,
        timeoutMs: briefing.timeoutMs ?? MODES[this.#mode].limitMs,
        maxTurns: briefing.maxTurns ?? MODES[this.#mode].turns,
        model: briefing.model,
        tools: briefing.tools,
        resume: this.#session,
        control: this.#leased.control,
        guard: (call) => this.#guard.check(call, cwd),
        beforeStop: () => this.#checkBeforeStop(),
        ...(access && { mcp: access.door }),
        ask: this.#askPeople && ((questions) => this.#ask(questions)),
        brief: {
          mode: this.#mode,
          prompt: briefing.prompt,
          subjectId: this.#leased.fence.subjectId,
          task,
          attempt: attempt + this.#attempt,
          feedback,
          hilConfig: hilConfig ?? this.#deps.project.rules.hilConfig,
          ...(this.#shown && { shown: this.#shown }),
        },
      },
      {
        output: (chunk) => this.#write(chunk),
        usage: (usage, settled) => this.#spend(usage, settled),
        progress: (report) => this.#progress(report),
        session: (id) => this.#recordSession(id),
        denied: (call, guard, reason) => this.#guard.denied(call, cwd, { guard, reason }),
      },
    );
    const stop = () => void session.stop();
    this.#leased.signal.addEventListener('abort', stop, { once: true });
    if (this.#leased.signal.aborted) stop();
    const end = await session.end;
    access?.close();
    this.#leased.signal.removeEventListener('abort', stop);
    await Promise.allSettled(this.#pendingQuestions.splice(0));
    this.#progressed.flush();
    // A stopped agent reports its last costs as it ends, and no later step would record them. The store does not keep
    // the order of parallel commands, and it refuses a denial after the end of the run.
    await Promise.all([this.#recording, ...this.#notes]);
    this.#leased.check();
    return end.kind === 'failed' ? { ...end, message: plainText(end.message) } : end;
  }

  async close(): Promise<void> {
    await this.#recording;
    await this.#log.close();
  }

  #write(chunk: string): void {
    this.#log.write(chunk);
    this.#leased.sign();
    this.#leased.lastOutput = `${this.#leased.lastOutput}${chunk}`.slice(-LAST_OUTPUT_CHARS);
  }

  /** The files that a reviewer was shown. */
  get shownFiles(): readonly string[] {
    return this.#shown?.files ?? [];
  }

  /** Whether the agent has asked a person while it worked. */
  get hasAsked(): boolean {
    return this.#hasAsked;
  }

  async #brief(feedback: Feedback[]): Promise<RunBrief> {
    const brief = await this.#briefFor(feedback);
    this.#shown = brief.shown;
    const { promptTokens, dropped } = brief.briefing;
    const { lessons = [], record } = brief;
    // At the same time, so that both share one transaction.
    const [reply] = await Promise.all([
      record ? this.#deps.store.execute(record) : null,
      this.#leased.must({ type: 'run.brief', runId: this.#runId, promptTokens, dropped, lessons }),
    ]);
    if (reply?.ok === false) this.#deps.onNote(`the lessons were not recorded: ${reply.refusal.message}`);
    return brief;
  }

  #ask(questions: AskedQuestion[]): Promise<string> {
    this.#hasAsked = true;
    const pending = this.#askPeople!(questions);
    this.#pendingQuestions.push(pending);
    pending.catch((error: unknown) => this.#deps.onNote(`a question of run ${this.#runId} was not recorded`, error));
    return pending;
  }

  async #checkBeforeStop(): Promise<string | null> {
    if (this.#stopBlocks >= MAX_STOP_BLOCKS) return null;
    const why = await this.#beforeStop();
    if (why !== null) this.#stopBlocks += 1;
    return why;
  }

  /**
   * Records spending during the run, so that an interrupted run is counted too. An agent that exceeds its reserved
   * budget is suspended at once, until the budget allows more.
   */
  #spend(report: Usage, settled = 0): void {
    this.#leased.sign();
    const read = readUsage(report);
    // The price of a stopped agent's requests is not assumed.
    if (read.costUsd === null && this.#leased.signal.aborted) return;
    const now = this.#held.admit(read, settled, this.#roomUsd());
    this.usage = withReport(this.usage, now.report, now.settled);
    if (this.#roomUsd() < 0) this.#leased.control.halt();
    this.#hasUnrecordedSpending = true;
    this.#recording ??= this.#recordSpending();
  }

  #roomUsd(): number {
    return this.#allowedUsd - (this.usage.costUsd ?? 0);
  }

  /** Books requests that waited for a reservation. */
  #bookHeld(): void {
    const more = this.#leased.signal.aborted ? null : this.#held.release(this.#roomUsd());
    if (!more) return;
    this.usage = withReport(this.usage, more);
    this.#hasUnrecordedSpending = true;
  }

  /** Records every request at once: the budget can only stop spending that is recorded. */
  async #recordSpending(): Promise<void> {
    while (this.#hasUnrecordedSpending) {
      this.#hasUnrecordedSpending = false;
      const { usage } = this;
      try {
        const reply = await this.#leased.execute({ type: 'run.spend', runId: this.#runId, usage });
        if (reply.ok)
          this.#applyBudget(
            reply.events.map(({ body }) => body),
            usage.costUsd ?? 0,
          );
        this.#bookHeld();
      } catch (error) {
        this.#deps.onNote(`spending of run ${this.#runId} was not recorded`, error);
        if ((usage.costUsd ?? 0) > this.#allowedUsd) await this.#waitToRecordAgain();
      }
    }
    // In the same tick as the last check. Otherwise a report in between would not be recorded.
    this.#recording = null;
    this.#leased.control.endHalt();
  }

  #applyBudget(events: EventBody[], spentUsd: number): void {
    if (events.some(({ type }) => type === 'run.overdrawn'))
      this.#leased.kill('budget', `The run has cost ${spentUsd.toFixed(2)} USD, and the budget is exhausted.`);
    for (const event of events)
      if (event.type === 'budget.reserved' && event.accountId === accountId(this.#leased.fence.projectId))
        this.#allowedUsd = spentUsd + (event.reserved[this.#runId] ?? 0);
  }

  /** The agent stays suspended: it must not spend money that cannot be recorded. */
  async #waitToRecordAgain(): Promise<void> {
    if (this.#leased.signal.aborted) return;
    this.#hasUnrecordedSpending = true;
    await this.#deps.clock.sleep(RECORD_AGAIN_MS, this.#leased.signal);
  }

  #recordSession(session: string): void {
    this.#session = session;
    if (session === this.#recordedSession) return;
    this.#recordedSession = session;
    this.#note({ type: 'run.record_session', runId: this.#runId, session }, 'the session');
  }

  #progress(report: ProgressReport): void {
    this.#leased.sign();
    this.#progressed.take(report);
  }

  #note(command: Parameters<LeasedWork['execute']>[0], what: string): void {
    const note = this.#record(command, what).finally(() => this.#notes.delete(note));
    this.#notes.add(note);
  }

  /** Writes a record in the background. A failure is logged and does not stop the work. */
  async #record(command: Parameters<LeasedWork['execute']>[0], what: string): Promise<void> {
    try {
      await this.#leased.execute(command);
    } catch (error) {
      this.#deps.onNote(`${what} of run ${this.#runId} was not recorded`, error);
    }
  }
}

function handover(lastOutput: string): string {
  return [
    'The previous agent worked on this until its context was full. Its changes are in this folder: look at them first',
    '(`git status`, `git diff`), keep what is good, and finish the rest. Its last output:',
    '',
    lastOutput.trim() || '(nothing)',
  ].join('\n');
}
