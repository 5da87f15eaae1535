import { TrackerError } from '../../../ports.ts';
import { type GithubError, isGithubError } from '../client/github-error.ts';

/** A failure in the words of the port. `ofItem`: the request was about one issue, so others may go on. */
export async function inTrackerWords<T>(ofItem: boolean, clockNow: () => number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isGithubError(error)) throw error;
    throw trackerError(error, ofItem, clockNow());
  }
}

function trackerError(error: GithubError, ofItem: boolean, now: number): TrackerError {
  const text = [error.message, error.hint].filter((part) => part !== '').join(' ');
  const options = { cause: error };
  switch (error.kind) {
    case 'rate_limited':
      return new TrackerError('rate_limited', text, {
        ...options,
        ...(error.retryAt === null ? {} : { retryInMs: Math.max(0, error.retryAt - now) }),
      });
    case 'unreachable':
    case 'bad_answer':
      return new TrackerError('offline', text, options);
    case 'unauthorized':
    case 'no_credentials':
      return new TrackerError('access', text, options);
    case 'missing_scope':
      // A locked issue refuses comments; that says nothing about the token.
      return new TrackerError(ofItem && /\blocked\b/i.test(error.message) ? 'refused' : 'access', text, options);
    default:
      return new TrackerError(ofItem ? 'refused' : 'access', text, options);
  }
}
