import { Approval, type EnvironmentRules, type HilConfig, nearest, type Project } from '@tidemill/contract';
import type { Decision } from '../command.ts';
import { refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';

/** How many earlier deliveries of an environment are looked through. */
export const LOOKED_THROUGH = 200;

/** What holds for an environment without its own setting: the strictest matter of the project's autonomy. */
export const strictest = (hil: HilConfig): Approval =>
  Approval.options[Math.max(...Object.values(hil).map((each) => Approval.options.indexOf(each)))] ??
  'requires_approval';

export const environmentOf = ({ rules }: Project, name: string): EnvironmentRules | undefined =>
  rules.delivery?.find((each) => each.name === name);

export function unknownEnvironment({ rules }: Project, name: string): Decision & { ok: false } {
  const known = (rules.delivery ?? []).map((each) => each.name);
  if (known.length === 0)
    return refuse('not_found', 'no environments are configured', 'add them to `delivery` in .tidemill/config.yaml');
  const guess = nearest(name, known);
  const hint = guess ? `did you mean ${guess}?` : `the environments are ${known.join(', ')}`;
  return refuse('not_found', `there is no environment ${name.slice(0, 100)}`, hint);
}

/** The earlier environment that must have the commit and does not; null when nothing is missing. */
export function lacksAfter(
  slice: Slice,
  { id: projectId }: Project,
  { after }: EnvironmentRules,
  commit: string,
): string | null {
  if (after === null) return null;
  const row = slice
    .list('recordsOf', projectId, 'environment')
    .find((each) => each.noun === 'environment' && each.name === after);
  const isThere = row?.noun === 'environment' && row.state === 'healthy' && row.live?.commit === commit;
  return isThere ? null : after;
}
