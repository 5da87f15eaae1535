import type { LoggedEvent, RouteRequest } from '@tidemill/contract';
import type { EventFilter, Store } from '../ports.ts';
import { projectOf, taskOf } from './answer.ts';
import type { Services } from './context.ts';

const PAGE = 500;

/** The log from a cursor on: to its present end, or for ever. */
export async function streamEvents(
  services: Services,
  input: RouteRequest<'events'>,
  signal: AbortSignal,
): Promise<AsyncIterable<LoggedEvent>> {
  const filter = await filterOf(services, input);
  const { store } = services;
  const events = input.follow
    ? store.subscribe(input.after, filter, signal)
    : pages(store, filter, input.after, signal);
  return input.limit === undefined ? events : firstOf(events, input.limit);
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

async function filterOf(services: Services, input: RouteRequest<'events'>): Promise<EventFilter> {
  const types = input.types;
  if (input.project === undefined) return { types, taskId: input.task };
  const project = await projectOf(services, input.project);
  const taskId = input.task === undefined ? undefined : (await taskOf(services, project, input.task)).id;
  return { projectId: project.id, taskId, types };
}
