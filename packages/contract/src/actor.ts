import { z } from 'zod';

/**
 * Who did something. A `person` gave a name without having to prove it: whoever may use the daemon's own token on its
 * machine. A `token` is known by the token it came with. An `agent` acts in a run, the `engine` by its own rules.
 */
export const Actor = z.object({
  kind: z.enum(['person', 'token', 'agent', 'engine']),
  /** Tells two of a kind apart that have the same name: for a token also when it was made. */
  id: z.string(),
  name: z.string(),
});
export type Actor = z.infer<typeof Actor>;

export const personActor = (name: string): Actor => ({ kind: 'person', id: name, name });
/** A part of the engine that acts without being asked. */
export const engineActor = (name: string): Actor => ({ kind: 'engine', id: name, name });
/** The engine as a whole. */
export const ENGINE = engineActor('Tidemill');
