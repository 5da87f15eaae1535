import type { AccessRole } from '@tidemill/contract';
import { useMay } from './action.tsx';

/** Why the controls of a page are disabled, for whoever may not use them. */
export function OnlyLooking({ needs = 'operator', what }: { needs?: AccessRole; what: string }) {
  if (useMay(needs)) return null;
  return (
    <p className="paused only-looking">
      You can look at all of this. {what} needs the role {needs}: ask whoever gave you your token.
    </p>
  );
}
