import { userInfo } from 'node:os';

/** The name of the user who runs this process. */
export function userName(env: NodeJS.ProcessEnv): string {
  const named = env.USER || env.LOGNAME;
  if (named) return named;
  try {
    return userInfo().username;
  } catch {
    return 'person'; // a container's user may have no name
  }
}
