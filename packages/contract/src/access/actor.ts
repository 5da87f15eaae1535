import { z } from 'zod';

/**
 * Who did something. A `person` used the daemon's own token and gave a name that is not verified. A `token` is identified
 * by its named token. An `agent` acts in a run, the `engine` by its own rules.
 */
export const Actor = z.object({
  kind: z.enum(['person', 'token', 'agent', 'engine']),
  /** Distinguishes actors of the same kind and name: for a token it includes the creation time. */
  id: z.string(),
  name: z.string(),
});
export type Actor = z.infer<typeof Actor>;

export const personActor = (name: string): Actor => ({ kind: 'person', id: name, name });
/** A part of the engine that acts by itself. */
export const engineActor = (name: string): Actor => ({ kind: 'engine', id: name, name });
/** The engine as a whole. */
export const ENGINE = engineActor('Tidemill');
