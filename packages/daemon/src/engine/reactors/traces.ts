import { type EventBody, type EventType, type LoggedEvent, REACTORS, subjectIdOf } from '@tidemill/contract';
import { drawTrace, type EventFacts, newestByGate, TRACED_EVENTS, traceOf } from '@tidemill/core';
import type { Reactor, ReactorCall } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

const FOLLOWED = REACTORS.traces.on;
const PAGE = 500;

/**
 * Records a trace of every event that can be learned from.
 *
 *   event ──▶ what it says (core/trace) ──▶ trace.store: the trace, and the count of its pattern
 * The id of a trace comes from its event, so a repetition changes nothing. After a restart it continues behind the
 * newest event that has a trace.
 */
export class TraceKeeper implements Reactor {
  readonly name = 'traces';
  readonly projectId: string;
  readonly on = FOLLOWED;
  readonly atOnce = 200;
  readonly #deps: EngineDeps;
  /** The last rejection of each task by a person: its note is the next event. */
  readonly #rejections = new Map<string, number>();

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.projectId = deps.project.id;
  }

  async handle(call: ReactorCall): Promise<void> {
    if (call.cause === 'start') await this.#catchUp();
    if (call.cause === 'events') await this.#keepAll(call.events);
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
    const said = drawTrace(body, facts);
    if (!said) return;
    const subjectId = subjectIdOf(body);
    const task = subjectId === null ? null : await store.taskNumbers([subjectId]);
    const taskNumber = (subjectId !== null && task?.get(subjectId)) || null;
    const trace = traceOf(event, said, { taskNumber, run: facts.run });
    await store.execute({ type: 'trace.store', projectId: this.projectId, trace });
  }

  async #factsOf({ body, seq }: LoggedEvent): Promise<EventFacts> {
    const { store, hash } = this.#deps;
    const runId = 'runId' in body ? body.runId : null;
    return {
      run: runId ? await store.run(runId) : null,
      question: body.type === 'question.answered' ? await store.record('question', body.questionId) : null,
      isRejection: body.type === 'task.noted' && this.#rejections.get(body.taskId) === seq - 1,
      hash,
      ...(await this.#ofGate(body)),
    };
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
