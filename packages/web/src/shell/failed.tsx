import { isTrouble } from '../api.ts';
import { errorText } from './notices.tsx';

/** What could not be read, and what happens now. */
export function Failed({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null;
  return (
    <p className="waiting" role="alert">
      {errorText(error)} {isTrouble(error) && 'Trying again by itself.'}
    </p>
  );
}
