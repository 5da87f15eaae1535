import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir, hostname } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { AppError } from '@tidemill/contract';

/** All data that is not in a repository. */
export interface DataFolder {
  path: string;
  /** Created once at random, because two machines may have the same path and share one Postgres. */
  id: string;
  /** A readable form for the ids of its workers: created once from the machine's name and the id. */
  host: string;
  storeFile: string;
  lockFile: string;
  daemonFile: string;
  /** Where earlier versions kept hashes of tokens. */
  tokenFile: string;
  logFile: string;
  /** Output of runs, one file each. */
  runs: string;
  runLog(runId: string): string;
  /** What gates were seen to read, by the hash of their settings. */
  reads: string;
  /** Output of gates, by hash. */
  gates: string;
  gateLog(hash: string): string;
  /** Output of deliveries, one file each. */
  deliveries: string;
  deliveryLog(deliveryId: string): string;
  project(projectId: string): string;
}

/** Where the data folder is or would be. */
function dataFolderPath(env: NodeJS.ProcessEnv): string {
  const wanted = env.TIDEMILL_HOME || join(homedir(), '.tidemill');
  return isAbsolute(wanted) ? wanted : resolve(wanted);
}

/** Its id is empty where there is no data folder yet. */
export function namedDataFolder(env: NodeJS.ProcessEnv): Pick<DataFolder, 'path' | 'id'> {
  const path = dataFolderPath(env);
  const file = join(path, 'home.id');
  return { path, id: existsSync(file) ? readFileSync(file, 'utf8').trim() : '' };
}

export function openDataFolder(env: NodeJS.ProcessEnv): DataFolder {
  const path = dataFolderPath(env);
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    keepPrivate(path, 0o700);
    mkdirSync(join(path, 'runs'), { recursive: true, mode: 0o700 });
    mkdirSync(join(path, 'gates'), { recursive: true, mode: 0o700 });
    mkdirSync(join(path, 'deliveries'), { recursive: true, mode: 0o700 });
  } catch (cause) {
    const isFull = cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC';
    throw new AppError(isFull ? 'disk_full' : 'store_failed', `cannot create the data folder ${path}: ${cause}`, {
      hint: 'Set TIDEMILL_HOME to a writable folder.',
      cause,
    });
  }
  const id = madeOnce(join(path, 'home.id'), () => randomBytes(12).toString('hex'));
  return {
    path,
    id,
    host: madeOnce(join(path, 'host'), () => `${machineName()}-${id.slice(0, 4)}`),
    storeFile: join(path, 'store.db'),
    lockFile: join(path, 'lock.db'),
    daemonFile: join(path, 'daemon.json'),
    tokenFile: join(path, 'tokens.json'),
    logFile: join(path, 'daemon.log'),
    runs: join(path, 'runs'),
    runLog: (runId) => join(path, 'runs', `${runId}.log`),
    reads: join(path, 'reads'),
    gates: join(path, 'gates'),
    gateLog: (hash) => join(path, 'gates', `${hash}.log`),
    deliveries: join(path, 'deliveries'),
    deliveryLog: (deliveryId) => join(path, 'deliveries', `${deliveryId}.log`),
    project: (projectId) => join(path, 'projects', projectId),
  };
}

/** A file or folder that may have existed before is readable by its owner only. */
function keepPrivate(path: string, wanted: number): void {
  const { mode, uid } = statSync(path);
  const isOurs = process.getuid === undefined || uid === process.getuid();
  if (isOurs && (mode & 0o077) !== 0) chmodSync(path, wanted);
}

/** Before SQLite creates it, which would let others read it. The files that SQLite puts beside it get the same mode. */
export function makePrivateFile(file: string): void {
  try {
    appendFileSync(file, '', { mode: 0o600 });
    keepPrivate(file, 0o600);
  } catch {
    // Anyone who opens it says what is wrong with it.
  }
}

/** Stored once and never changed, because machines are renamed. */
const machineName = () =>
  hostname()
    .split('.')[0]!
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 30) || 'host';

/** Written under another name first, so that nobody reads half of it. */
function madeOnce(file: string, text: () => string): string {
  if (!existsSync(file)) {
    const draft = `${file}.${randomBytes(6).toString('hex')}`;
    writeFileSync(draft, text(), { flag: 'wx', mode: 0o600 });
    try {
      linkSync(draft, file);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    } finally {
      rmSync(draft);
    }
  }
  return readFileSync(file, 'utf8').trim();
}
