import type { z } from 'zod';
import { ROUTES } from '../nouns.ts';
import { recordRoutes } from '../record/routes.ts';

export type { CliOffer, McpOffer, Route } from './route.ts';

/** By subject. The routes of the log need every event, so they cannot be among the nouns. */
export const routeGroups = { ...ROUTES, records: recordRoutes };

type Groups = typeof routeGroups;
type Merged<U> = (U extends unknown ? (each: U) => void : never) extends (all: infer A) => void ? A : never;

/**
 * The whole API as data. The server, the client and the CLI are built from this table, so a route cannot exist in one
 * and not in the others.
 */
export const routes = Object.assign({}, ...Object.values(routeGroups)) as Merged<Groups[keyof Groups]>;

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
  /** A request that is sent again with the same key is not executed again: it gets the first response. */
  idempotencyKey?: string;
}

/** Every route as a function: implemented by the client and by the handlers. */
export type Api = {
  [N in RouteName]: (input: RouteInput<N>, signal?: AbortSignal, options?: CallOptions) => RouteAnswer<N>;
};
