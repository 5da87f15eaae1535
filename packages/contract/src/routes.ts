import type { z } from 'zod';
import { conflictRoutes } from './routes/conflict.ts';
import { daemonRoutes } from './routes/daemon.ts';
import { fleetRoutes } from './routes/fleet.ts';
import { peopleRoutes } from './routes/people.ts';
import { projectRoutes } from './routes/project.ts';
import { recordRoutes } from './routes/record.ts';
import { taskRoutes } from './routes/task.ts';

export type { Route } from './routes/route.ts';

/** By subject, as the API's own document shows them. */
export const routeGroups = {
  daemon: daemonRoutes,
  projects: projectRoutes,
  tasks: taskRoutes,
  fleet: fleetRoutes,
  conflicts: conflictRoutes,
  people: peopleRoutes,
  records: recordRoutes,
};

/**
 * The whole API as data. The server, the client and the CLI are built from this table, so a route cannot exist in one
 * and not in the others.
 */
export const routes = {
  ...daemonRoutes,
  ...projectRoutes,
  ...taskRoutes,
  ...fleetRoutes,
  ...conflictRoutes,
  ...peopleRoutes,
  ...recordRoutes,
};

export type Routes = typeof routes;
export type RouteName = keyof Routes;
/** What a caller passes, and what a handler gets once it is parsed. */
export type RouteInput<N extends RouteName> = z.input<Routes[N]['input']>;
export type RouteRequest<N extends RouteName> = z.output<Routes[N]['input']>;
export type RouteOutput<N extends RouteName> = z.output<Routes[N]['output']>;
export type RouteAnswer<N extends RouteName> = Routes[N]['stream'] extends true
  ? AsyncIterable<RouteOutput<N>>
  : Promise<RouteOutput<N>>;

export interface CallOptions {
  /** A request that is sent again with the same key is not done again: it gets the first one's answer. */
  idempotencyKey?: string;
}

/** Every route as a function: a client of a running daemon and the handlers themselves both are one. */
export type Api = {
  [N in RouteName]: (input: RouteInput<N>, signal?: AbortSignal, options?: CallOptions) => RouteAnswer<N>;
};
