import path from 'node:path';

/** Variables that identify a child later, also for another daemon: its data folder and its run. */
export interface Marker {
  homeId: string;
  runId: string;
}

export const HOME_MARK = 'TIDEMILL_HOME_ID';
export const RUN_MARK = 'TIDEMILL_RUN';

/** The agent that this process was started by, if one did: a child of a run has the run's mark. */
export function agentOfRun(env: NodeJS.ProcessEnv): string | null {
  const run = env[RUN_MARK];
  return run === undefined || run === '' ? null : `agent of ${run}`;
}

/** What agents set for the programs that they start, in a person's own session. */
const OWN_SESSION = ['CLAUDECODE', 'CODEX_SANDBOX', 'CURSOR_AGENT', 'GEMINI_CLI', 'OPENCODE', 'AI_AGENT'];

/** Whether an agent reads what is printed. It must see no token, because who has one decides as the person. */
export const isReadByAgent = (env: NodeJS.ProcessEnv): boolean =>
  agentOfRun(env) !== null || OWN_SESSION.some((name) => Boolean(env[name]));

const FIRST_PORT = 10_000;
const FIRST_PROOF_PORT = 30_000;
const PORTS_EACH = 20;

/**
 * Variables that differ per worktree, so that parallel work does not share ports or databases: a name, and the first of
 * twenty ports. Folders are named after the task's number, or `proof-N`. Empty for a folder that is not a worktree.
 */
export function worktreeVariables(cwd: string): Record<string, string> {
  if (!['worktrees', 'proofs'].includes(path.basename(path.dirname(cwd)))) return {};
  const name = path.basename(cwd);
  const [, proof, number] = /^(proof-)?(\d+)/.exec(name) ?? [];
  if (number === undefined) return {};
  const first = proof
    ? FIRST_PROOF_PORT + (Number(number) % 100) * PORTS_EACH
    : FIRST_PORT + (Number(number) % 1000) * PORTS_EACH;
  return { TIDEMILL_WORKTREE: name, TIDEMILL_PORT_BASE: String(first) };
}

const PASSED_ON = new Set(['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR', 'USER', 'SHELL']);

/**
 * The complete environment of a child. It is an allowlist: the daemon's own secrets (database password, tokens) must
 * not reach code that an agent wrote.
 */
export function childEnvironment(
  own: NodeJS.ProcessEnv,
  given: Record<string, string>,
  marker: Marker | null,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && (PASSED_ON.has(name) || name.startsWith('LC_'))) env[name] = value;
  }
  return { ...env, ...given, ...(marker ? { [HOME_MARK]: marker.homeId, [RUN_MARK]: marker.runId } : {}) };
}

/** The variables of the daemon's environment that a setting names, if they are set. */
export function passedOn(names: string[]): Record<string, string> {
  // Tidemill's own are those of the child, not of the daemon.
  const others = names.filter((name) => !name.startsWith('TIDEMILL_'));
  const found = others.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]] as const]));
  return Object.fromEntries(found);
}
