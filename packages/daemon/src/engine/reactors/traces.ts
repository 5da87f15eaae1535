import {
  type EventBody,
  type EventType,
  isBuilding,
  type LoggedEvent,
  REACTORS,
  type Run,
  subjectIdOf,
  type Trace,
} from '@tidemill/contract';
import { drawTrace, type EventFacts, newestByGate, TRACED_EVENTS, traceOf } from '@tidemill/core';
import type { Reactor, ReactorCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { HandChanges } from '../learning/hand-changes.ts';
import { hookTrace } from '../learning/hook-traces.ts';

const FOLLOWED = REACTORS.traces.on;
const PAGE = 500;
const EVERY_MS = 60_000;

/**
 * Records a trace of every event that can be learned from.
 *
 *   event ──▶ what it says (core/trace) ──┐
 *   a commit by hand, a hook's refusal ───┴──▶ trace.store: the trace, and the count of its pattern
 * The id of a trace comes from its event, so a repetition changes nothing. After a restart it continues behind the
 * newest event that has a trace.
 */
export class TraceKeeper implements Reactor {
  readonly name = 'traces';
  readonly projectId: string;
  readonly on = FOLLOWED;
  readonly everyMs = EVERY_MS;
  readonly atOnce = 200;
  readonly #deps: EngineDeps;
  /** The last rejection of each task by a person: its note is the next event. */
  readonly #rejections = new Map<string, number>();

  readonly #isOut: () => Promise<boolean>;
  readonly #changes: HandChanges;

  /** `isOut`: the repository is unavailable now. */
  constructor(deps: EngineDeps, isOut: () => Promise<boolean>) {
    this.#deps = deps;
    this.projectId = deps.project.id;
    this.#isOut = isOut;
    this.#changes = new HandChanges(deps);
  }

  async handle(call: ReactorCall): Promise<void> {
    if (call.cause === 'start') await this.#catchUp();
    if (call.cause === 'events') return this.#keepAll(call.events);
    await this.#lookOutside();
  }

  /** What no event tells of: commits of people, and what hooks refused in their own sessions. */
  async #lookOutside(): Promise<void> {
    const { hookRefusals, hash } = this.#deps;
    await hookRefusals?.take(async (refusals) => {
      for (const refusal of refusals) await this.#store(hookTrace(refusal, hash));
    });
    if (await this.#isOut()) return;
    for (const trace of await this.#changes.look()) await this.#store(trace);
  }

  async #store(trace: Omit<Trace, 'noun' | 'projectId'>): Promise<void> {
    await this.#deps.store.execute({ type: 'trace.store', projectId: this.projectId, trace });
  }

  /** What happened while no daemon ran, or before this version. */
  async #catchUp(): Promise<void> {
    const { store } = this.#deps;
    const { projectId } = this;
    const [newest] = await store.searchRecords({ noun: 'trace', projectId, tags: ['of:log'], limit: 1 });
    for (let after = newest?.record.seq ?? 0; ; ) {
      const events = await store.events({ projectId, types: [...FOLLOWED], after, limit: PAGE });
      await this.#keepAll(events);
      if (events.length < PAGE) return;
      after = events.at(-1)!.seq;
    }
  }

  async #keepAll(events: readonly LoggedEvent[]): Promise<void> {
    for (const event of events) await this.#keep(event);
  }

  async #keep(event: LoggedEvent): Promise<void> {
    const { body } = event;
    const { store } = this.#deps;
    if (body.type === 'task.feedback_given' && body.feedback.some(({ kind }) => kind === 'person'))
      this.#rejections.set(body.taskId, event.seq);
    if (!(TRACED_EVENTS as readonly EventType[]).includes(body.type)) return;
    const facts = await this.#factsOf(event);
    // A replay repeats what happened before, on purpose.
    if (facts.run?.mode === 'replay') return;
    const said = drawTrace(body, facts);
    if (!said) return;
    const subjectId = subjectIdOf(body);
    const task = subjectId === null ? null : await store.taskNumbers([subjectId]);
    const taskNumber = (subjectId !== null && task?.get(subjectId)) || null;
    const trace = traceOf(event, said, { taskNumber, run: facts.run });
    await this.#store(trace);
  }

  async #factsOf({ body, seq }: LoggedEvent): Promise<EventFacts> {
    const { store, hash } = this.#deps;
    const runId = 'runId' in body ? body.runId : null;
    return {
      run: runId ? await store.run(runId) : await this.#builderOf(body),
      question: body.type === 'question.answered' ? await store.record('question', body.questionId) : null,
      isRejection: body.type === 'task.noted' && this.#rejections.get(body.taskId) === seq - 1,
      hash,
      ...(await this.#ofGate(body)),
    };
  }

  /** A gate's receipt names no run: it is about what the last builder made. */
  async #builderOf(body: EventBody): Promise<Run | null> {
    if (body.type !== 'evidence.recorded' || body.evidence.status !== 'fail') return null;
    const { taskId, at } = body.evidence;
    const runs = await this.#deps.store.runs(taskId);
    return runs.findLast(({ mode, startedAt }) => isBuilding(mode) && startedAt <= at) ?? null;
  }

  async #ofGate(body: EventBody): Promise<Pick<EventFacts, 'gateOutput' | 'isFlake'>> {
    if (body.type !== 'evidence.recorded' || body.evidence.status !== 'fail') return { gateOutput: '', isFlake: false };
    const { store, gates } = this.#deps;
    const { projectId, tree, gate, logHash } = body.evidence;
    const newest = newestByGate(await store.evidenceForTree(projectId, tree)).get(gate);
    const gateOutput = (await gates.storedExcerpt?.(logHash)) ?? '';
    return { gateOutput, isFlake: newest?.status === 'pass' };
  }
}
