/** How a child is recognised later, also by another daemon: the data folder it belongs to and the run it was started for. */
export interface Marker {
  homeId: string;
  runId: string;
}

export const HOME_MARK = 'TIDEMILL_HOME_ID';
export const RUN_MARK = 'TIDEMILL_RUN';

const PASSED_ON = new Set(['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR', 'USER', 'SHELL']);

/**
 * The whole environment of a child. It is a list of what may pass, not of what may not: the daemon's own secrets
 * (database password, tokens) must not reach code that an agent wrote.
 */
export function childEnvironment(
  own: NodeJS.ProcessEnv,
  given: Record<string, string>,
  marker: Marker,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && (PASSED_ON.has(name) || name.startsWith('LC_'))) env[name] = value;
  }
  return { ...env, ...given, [HOME_MARK]: marker.homeId, [RUN_MARK]: marker.runId };
}
