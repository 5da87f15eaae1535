import { type Config, isTripwired, type Project } from '@tidemill/contract';
import { createTripwireFile } from '../../config/tripwire-file.ts';
import { parsedFaults } from '../../engine/tripwire/known-faults.ts';
import type { Services } from '../context.ts';
import type { Say } from './doctor.ts';

const NOTHING =
  'It passes although every source file has a syntax error, so nobody can tell whether it works. Check its command and `source`; `tripwire: false` hides this.';

/** Reports which gates are known to notice planted faults. */
export async function sayWhatGatesNotice(
  { machine: { folder } }: Services,
  { id, name, rules }: Project,
  { gates }: Config,
  say: Say,
): Promise<void> {
  const text = await createTripwireFile(folder.project(id)).read();
  const known = text === null ? {} : (parsedFaults(text) ?? {});
  const seeing: string[] = [];
  for (const gate of gates) {
    if (gate.tripwire === false) say('ok', 'gates', `${name}: ${gate.name} is not tried with faults (tripwire: false)`);
    const its = known[gate.name];
    if (!isTripwired(gate) || !its || its.config !== (rules.gateConfigs?.[gate.name] ?? '')) continue;
    if (its.noticed.length > 0 || its.survivors !== null) seeing.push(gate.name);
    else if (its.notices?.level === 'nothing')
      say('warning', 'gates', `${name}: ${gate.name} notices nothing we tried`, NOTHING);
    else if (its.notices) say('ok', 'gates', `${name}: ${gate.name} notices only files that cannot be read`);
  }
  if (seeing.length > 0) say('ok', 'gates', `${name}: ${seeing.join(', ')} notice planted faults`);
}
