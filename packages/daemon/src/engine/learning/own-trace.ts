import {
  type Actor,
  AppError,
  type Project,
  type Task,
  type Trace,
  TraceDraft,
  type TraceType,
} from '@tidemill/contract';
import { fingerprintOf } from '@tidemill/core';
import type { Clock, Ids, Store } from '../../ports.ts';

const DAY_MS = 24 * 3_600_000;
/** Traces that one actor may record in a day. An agent in a loop must not fill the store. */
const MOST_A_DAY: Record<Actor['kind'], number> = { person: 1_000, token: 500, agent: 50, engine: 1_000 };

export interface OwnTrace {
  type: TraceType;
  what: string;
  correct: string | null;
  why: string | null;
  files: string[];
  /** What repeats; by default the same words are the same occurrence. */
  key: string | undefined;
  task: Pick<Task, 'id' | 'number'> | null;
  by: Actor;
  runId?: string | null;
}

interface Needs {
  store: Pick<Store, 'searchRecords'>;
  clock: Pick<Clock, 'now'>;
  ids: Ids;
  hash(text: string): string;
}

/** A trace that a person, a program or an agent records itself. */
export async function ownTrace(
  { store, clock, ids, hash }: Needs,
  { id: projectId }: Pick<Project, 'id'>,
  { type, what, correct, why, files, key, task, by, runId = null }: OwnTrace,
): Promise<Omit<Trace, 'noun' | 'projectId'>> {
  const now = clock.now();
  const most = MOST_A_DAY[by.kind];
  const tags = [`by:${by.kind}:${by.id}`];
  const own = await store.searchRecords({ noun: 'trace', projectId, tags, limit: most });
  const oldest = own.at(-1);
  if (own.length >= most && oldest !== undefined && oldest.record.at > now - DAY_MS)
    throw new AppError('too_large', `${by.name} has recorded ${most} traces within a day, which is the most`, {
      hint: 'Record only what others can learn from, or try again tomorrow.',
    });
  const source = by.kind === 'agent' ? 'agent' : 'person';
  const draft = TraceDraft.parse({
    ...{
      type,
      source,
      subjectId: task?.id ?? null,
      taskNumber: task?.number ?? null,
      runId,
      files,
      what,
      correct,
      why,
    },
    agent: by.kind === 'agent' ? by.name : null,
    key: `${source}:${type}:${key ?? fingerprintOf(type, what, hash)}`,
  });
  return { ...draft, id: ids.next('trace'), at: now, seq: null, by };
}
