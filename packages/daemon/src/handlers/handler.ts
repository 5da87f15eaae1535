import type { Actor, RouteName, RouteOutput, RouteRequest, Routes, routeGroups } from '@tidemill/contract';
import type { Call, Services } from './context.ts';

/** A request as its handler gets it: the name in `by` is replaced by the actor. */
export type Signed<N extends RouteName> =
  RouteRequest<N> extends { by: string } ? Omit<RouteRequest<N>, 'by'> & { by: Actor } : RouteRequest<N>;

/** The implementation of a route, for HTTP and for the CLI without a daemon. */
export type Handler<N extends RouteName> = (
  services: Services,
  input: Signed<N>,
  signal: AbortSignal,
  call: Call,
) => Promise<Routes[N]['stream'] extends true ? AsyncIterable<RouteOutput<N>> : RouteOutput<N>>;

/** Routes that execute a command of core need no handler of their own. */
export type CommandRoute = { [N in RouteName]: Routes[N] extends { executes: string } ? N : never }[RouteName];

/** The handlers of one group of routes. A route without a handler does not compile. */
export type Handlers<G extends keyof typeof routeGroups> = {
  [N in Exclude<keyof (typeof routeGroups)[G] & RouteName, CommandRoute>]: Handler<N>;
};
