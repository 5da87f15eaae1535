import { simulate } from './simulation.ts';

const CALM = { crash: 0, delay: 0, duplicate: 0, lostHeartbeat: 0 };
const STORY = { seed: 11, days: 0.06, tasksPerDay: 50 };

/**
 * Runs one story once per crash: at each write that changes something, before or after it takes effect, or both.
 * A crash at a refused claim or at a renewed lease equals a crash between two other writes.
 */
export async function crashEverywhere(
  momentsOf: (index: number) => boolean[],
): Promise<{ landed: number; crashes: number; broken: string | null }> {
  const { writes, landed } = await simulate({ ...STORY, faults: CALM });
  let crashes = 0;
  for (const [index, write] of writes.entries()) {
    for (const after of momentsOf(index)) {
      const { broken } = await simulate({ ...STORY, faults: { ...CALM, crashAt: { write, after } } });
      crashes += 1;
      if (broken)
        return { landed, crashes, broken: `crash at write ${write}, ${after ? 'after' : 'before'}: ${broken.message}` };
    }
  }
  return { landed, crashes, broken: null };
}
