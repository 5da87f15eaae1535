import { isTemporary } from '../api.ts';
import { errorText } from './toasts.tsx';

/** A loading error, and whether it is retried. */
export function Failed({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null;
  return (
    <p className="waiting" role="alert">
      {errorText(error)} {isTemporary(error) && 'Retrying automatically.'}
    </p>
  );
}
