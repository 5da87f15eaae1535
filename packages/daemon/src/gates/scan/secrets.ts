import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { plainName } from '@tidemill/contract';
import { finding, type KeyedFinding } from './finding.ts';

export interface ChangedText {
  file: string;
  text: string;
}

export interface FoundSecret {
  /** The kind of key, as secretlint names it. */
  id: string;
  first: number;
  last: number;
}

interface Limits {
  timeoutMs: number;
  signal: AbortSignal;
}

/** Keys in the lines that the change adds. The value itself is never shown. Null: it took too long. */
export async function secretsIn(
  changed: { file: string; after: string; before: string | undefined }[],
  limits: Limits,
): Promise<KeyedFinding[] | null> {
  if (changed.length === 0) return [];
  const texts = changed.map(({ file, after }) => ({ file, text: after }));
  const found = await scanned(texts, limits);
  if (found === null) return null;
  return changed.flatMap(({ file, after, before }, index) => {
    const old = new Set(before?.split('\n') ?? []);
    const lines = after.split('\n');
    const isNew = ({ first, last }: FoundSecret) => lines.slice(first - 1, last).some((line) => !old.has(line));
    return (found[index] ?? []).filter(isNew).map(({ id, first: line }) => {
      const name = plainName(file);
      const title = `looks like a secret: ${id}`;
      return finding({ severity: 'critical', id, title, file: name, line }, `${id} ${name}`);
    });
  });
}

function scanned(texts: ChangedText[], { timeoutMs, signal }: Limits): Promise<FoundSecret[][] | null> {
  const { promise, resolve, reject } = Promise.withResolvers<FoundSecret[][] | null>();
  // Without the daemon's environment and options: nothing there concerns it.
  const worker = new Worker(scannerFile(), { workerData: texts, env: {}, execArgv: [] });
  const limit = setTimeout(() => resolve(null), timeoutMs);
  const stop = () => reject(signal.reason);
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  worker.once('message', resolve);
  worker.once('error', reject);
  worker.once('exit', () => reject(new Error('the search for secrets ended without a result')));
  return promise.finally(() => {
    clearTimeout(limit);
    signal.removeEventListener('abort', stop);
    return worker.terminate();
  });
}

/** Beside this file: as source in a checkout, as JavaScript in the packed build. */
function scannerFile(): string {
  const source = fileURLToPath(new URL('./secret-scanner.ts', import.meta.url));
  return existsSync(source) ? source : fileURLToPath(new URL('./secret-scanner.js', import.meta.url));
}
