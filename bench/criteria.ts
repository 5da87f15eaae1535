import { join } from 'node:path';
import { loadRequirements } from '../scripts/requirements.ts';
import { measureFleet } from './criteria-fleet.ts';
import { measureWork } from './criteria-work.ts';
import type { BenchOptions } from './options.ts';
import { row, type Section } from './row.ts';
import { inTemporaryFolder } from './temporary.ts';

/** The time limits of test/requirements.yaml that no other section measures, on a daemon with real agents. */
export async function run(_options: BenchOptions): Promise<Section> {
  const limits = new Map(
    loadRequirements(join(import.meta.dirname, '..')).flatMap(({ id, limit }) =>
      limit?.bench === 'criteria' ? [[id, limit.seconds] as const] : [],
    ),
  );
  const measured = await inTemporaryFolder(async (folder) => [
    ...(await measureFleet(join(folder, 'fleet'))),
    ...(await measureWork(join(folder, 'work'))),
  ]);
  const missing = [...limits.keys()].filter((id) => !measured.some((each) => each.id === id));
  if (missing.length > 0) throw new Error(`test/requirements.yaml says that this section measures ${missing}`);
  return {
    name: 'criteria',
    title: 'Time limits of the criteria',
    rows: measured.map(({ id, what, seconds }) => {
      const limit = limits.get(id);
      if (limit === undefined) throw new Error(`${id} has no limit in test/requirements.yaml`);
      return row({ name: `${id} ${what}`, value: seconds, unit: 's', target: { atMost: limit } });
    }),
    notes: [
      'Each measured once, or the slowest of several. Agents are programs that answer at once, so that the time is Tidemill’s.',
    ],
  };
}
