import { setImmediate } from 'node:timers/promises';
import { AppError, EventBody, type LoggedEvent, type RouteRequest } from '@tidemill/contract';
import type { EventFilter, Store } from '../../ports.ts';
import type { Services } from '../context.ts';
import { projectOf, taskOf } from '../find.ts';

const PAGE = 500;
/**
 * Events per step of a search by type. A step takes some milliseconds, so that other requests are served in between.
 */
const STRETCH = 100_000;
const TYPES: ReadonlySet<string> = new Set(EventBody.options.map(({ shape }) => shape.type.value));

/** The log from a cursor on, to its current end or without end. */
export async function streamEvents(
  services: Services,
  input: RouteRequest<'events'>,
  signal: AbortSignal,
): Promise<AsyncIterable<LoggedEvent>> {
  const filter = await eventFilter(services, input);
  const { store } = services;
  // A cursor beyond the end comes from another log and would wait forever. It starts at the end, as on the live stream.
  const events = input.follow
    ? store.subscribe(Math.min(input.after, await store.lastSeq()), filter, signal)
    : pages(store, filter, input.after, signal);
  return input.limit === undefined ? events : firstOf(events, input.limit);
}

/** Events before a cursor, newest first. */
export async function recentEvents(
  services: Services,
  input: RouteRequest<'recentEvents'>,
  signal: AbortSignal,
): Promise<LoggedEvent[]> {
  const { store } = services;
  const { before = Number.MAX_SAFE_INTEGER, limit } = input;
  const filter = await eventFilter(services, input);
  const found: LoggedEvent[] = [];
  let upTo = Math.min(before - 1, await store.lastSeq());
  while (found.length < limit && upTo > 0 && !signal.aborted) {
    // Events of a task have their own index.
    const after = filter.taskId === undefined ? Math.max(0, upTo - STRETCH) : 0;
    found.push(...(await store.events({ ...filter, after, upTo, newestFirst: true, limit: limit - found.length })));
    upTo = after;
    await setImmediate();
  }
  return found;
}

async function* pages(
  store: Store,
  filter: EventFilter,
  from: number,
  signal: AbortSignal,
): AsyncGenerator<LoggedEvent> {
  for (let after = from; !signal.aborted; ) {
    const events = await store.events({ ...filter, after, limit: PAGE });
    yield* events;
    if (events.length < PAGE) return;
    after = events.at(-1)!.seq;
  }
}

async function* firstOf(events: AsyncIterable<LoggedEvent>, limit: number): AsyncGenerator<LoggedEvent> {
  let left = limit;
  for await (const event of events) {
    yield event;
    left -= 1;
    if (left === 0) return;
  }
}

/** Translates the request into a filter of the store. */
export async function eventFilter(
  services: Pick<Services, 'store'>,
  { project: id, task, types: given }: { project?: string; task?: string; types?: string[] },
): Promise<EventFilter> {
  // Limited, because each event is compared with every entry.
  const types = given && [...new Set(given)];
  const unknown = types?.find((type) => !TYPES.has(type));
  if (unknown !== undefined)
    throw new AppError('bad_input', `there is no event type "${unknown}"`, {
      hint: `For example task.created, run.finished, merge.landed.`,
    });
  if (id === undefined) {
    if (task !== undefined && !(await services.store.task(task)))
      throw new AppError('not_found', `there is no task "${task}"`, {
        hint: 'A task number needs a project. Name the project too.',
      });
    return { types, taskId: task };
  }
  const project = await projectOf(services, id);
  const taskId = task === undefined ? undefined : (await taskOf(services, project, task)).id;
  return { projectId: project.id, taskId, types };
}
