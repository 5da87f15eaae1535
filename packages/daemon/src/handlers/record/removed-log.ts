import type { OutputKind } from '../../ports.ts';
import type { Services } from '../context.ts';

/** `removed on 2026-11-17 by age`, or null when housekeeping did not remove it. */
export async function removalText(
  { machine }: Pick<Services, 'machine'>,
  kind: OutputKind,
  id: string,
): Promise<string | null> {
  const removal = await machine.outputs.removal(kind, id);
  return removal && `removed on ${new Date(removal.at).toISOString().slice(0, 10)} by ${removal.why}`;
}
