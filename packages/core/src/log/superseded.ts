import { BEATS_KEPT, type EventBody, type EventType } from '@tidemill/contract';

/** The types that a search for superseded events must read. */
export const SUPERSEDING: readonly EventType[] = [
  'worker.beat',
  'lease.claimed',
  'lease.renewed',
  'lease.released',
  'run.progressed',
];

/**
 * Finds events that change no row any more, because later ones replaced what they set: a replay without them gives the
 * same rows. The events of a project are given from the newest to the oldest.
 */
export class SupersededEvents {
  /** How many later beats a worker has. */
  readonly #beats = new Map<string, number>();
  /** Leases that ended or were claimed again later. */
  readonly #ended = new Set<string>();
  /** The fields that later events of a run set. */
  readonly #progress = new Map<string, Set<string>>();

  isSuperseded(body: EventBody): boolean {
    switch (body.type) {
      case 'worker.beat': {
        const later = this.#beats.get(body.workerId) ?? 0;
        this.#beats.set(body.workerId, later + 1);
        return later >= BEATS_KEPT;
      }
      case 'lease.claimed':
      case 'lease.released':
        this.#ended.add(leaseOf(body));
        return false;
      case 'lease.renewed':
        return this.#ended.has(leaseOf(body));
      case 'run.progressed': {
        const { type: _type, subjectId: _subject, jobId: _job, runId, ...change } = body;
        const set = Object.entries(change).flatMap(([field, value]) => (value ? [field] : []));
        const later = this.#progress.get(runId);
        this.#progress.set(runId, new Set([...(later ?? []), ...set, ...ALWAYS_SET]));
        return later !== undefined && set.every((field) => later.has(field));
      }
      default:
        return false;
    }
  }
}

/** A report of progress sets these even if they are empty; the others only if it has them. */
const ALWAYS_SET = ['percent', 'text'];

const leaseOf = ({ subjectId, jobId }: { subjectId: string; jobId?: string }) => jobId ?? subjectId;
