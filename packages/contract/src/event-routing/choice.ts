import { z } from 'zod';

/**
 * What follows from an event without a person's action: `routing` in a project's config. Only what may be chosen is here;
 * `ROUTES_OF_EVENTS` lists everything.
 */
export const RoutingChoice = z.strictObject({
  'feedback.given': z.enum(['analyse', 'off']).default('analyse'),
  /** When the idea is complete. */
  'idea.advanced': z.enum(['specify', 'off']).default('off'),
});
export type RoutingChoice = z.infer<typeof RoutingChoice>;
export const DEFAULT_ROUTING: RoutingChoice = RoutingChoice.parse({});
