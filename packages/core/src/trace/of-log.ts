import {
  ENGINE,
  type LoggedEvent,
  personActor,
  type Run,
  subjectIdOf,
  type Trace,
  TraceDraft,
} from '@tidemill/contract';
import type { Drawn } from './drawn.ts';

const DIGITS = 9;
const digits = (value: number) => value.toString(36).padStart(DIGITS, '0');

/** Derived from the event, so that the same event gives the same trace. Ids sort by age. */
export const traceId = ({ at, seq }: Pick<LoggedEvent, 'at' | 'seq'>) => `trace_${digits(at)}${digits(seq)}`;

/** The trace of an event. */
export function traceOf(
  event: LoggedEvent,
  { by, ...said }: Drawn,
  { taskNumber, run }: { taskNumber: number | null; run: Run | null },
): Omit<Trace, 'noun' | 'projectId'> {
  const draft = TraceDraft.parse({
    ...said,
    subjectId: subjectIdOf(event.body),
    runId: run?.id ?? null,
    taskNumber,
    agent: run?.agent ?? null,
  });
  const actor = by ?? (run ? { kind: 'agent' as const, id: run.workerId, name: run.agent } : unnamed(said.source));
  return { ...draft, id: traceId(event), at: event.at, seq: event.seq, by: actor };
}

const unnamed = (source: Drawn['source']) => (source === 'person' ? personActor('person') : ENGINE);
