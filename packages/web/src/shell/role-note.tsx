import type { AccessRole } from '@tidemill/contract';
import { useMay } from './action.tsx';

/** Says why the controls of a page are disabled. */
export function RoleNote({ needs = 'operator', what }: { needs?: AccessRole; what: string }) {
  if (useMay(needs)) return null;
  return (
    <p className="paused role-note">
      You can view this page. {what} needs the role {needs}. Ask the person who gave you your token.
    </p>
  );
}
