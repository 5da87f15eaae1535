import { watch } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { AppError, type LogChunk, type RouteRequest, type Run } from '@tidemill/contract';
import type { Services } from '../context.ts';
import { removalText } from './removed-log.ts';

const CHUNK = 64 * 1024;
const TURN_MS = 100;

export async function showRun({ store }: Services, input: RouteRequest<'run'>): Promise<Run> {
  const run = await store.run(input.run);
  if (run) return run;
  throw new AppError('not_found', `there is no run "${input.run}"`, {
    hint: '`tidemill task show NUMBER` lists the runs of a task.',
  });
}

/** A run's output from an offset on: the current content, or everything until the run ends. */
export async function streamRunLog(
  services: Services,
  input: RouteRequest<'runLog'>,
  signal: AbortSignal,
): Promise<AsyncIterable<LogChunk>> {
  await showRun(services, { run: input.run });
  const removed = await removalText(services, 'runs', input.run);
  if (removed !== null) return only({ offset: input.offset, text: `[The output of this run was ${removed}.]\n` });
  return chunks(services, input, signal);
}

async function* only(chunk: LogChunk): AsyncGenerator<LogChunk> {
  yield chunk;
}

async function* chunks(
  services: Services,
  input: RouteRequest<'runLog'>,
  signal: AbortSignal,
): AsyncGenerator<LogChunk> {
  const file = services.machine.folder.runLog(input.run);
  using news = input.follow ? watchFile(services, file, signal) : null;
  let offset = input.offset;
  for (let isOver = false; ; await news.next()) {
    // Taken before the check, so that no change between the check and the wait is missed.
    const { output, commits } = news?.take() ?? { output: true, commits: true };
    // Checked before reading, so that output written before the end of the run is not missed.
    if (commits) isOver = (await showRun(services, { run: input.run })).status !== 'running';
    if (output || isOver)
      for await (const chunk of readFrom(file, offset, isOver)) {
        offset = chunk.offset;
        yield chunk;
        if (signal.aborted) return;
      }
    if (isOver || !news || signal.aborted) return;
  }
}

/**
 * Returns whole characters only, so that every offset is valid. An incomplete character at the very end is returned
 * too.
 */
async function* readFrom(file: string, offset: number, isLast: boolean): AsyncGenerator<LogChunk> {
  let handle: FileHandle;
  try {
    handle = await open(file);
  } catch (error) {
    // A run without output, or with expired output, has no file.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
    throw error;
  }
  try {
    for (let at = offset; ; ) {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(CHUNK), 0, CHUNK, at);
      const bytes = buffer.subarray(0, bytesRead);
      const whole = wholeCharacters(bytes);
      const taken = whole === 0 && isLast ? bytesRead : whole;
      if (taken === 0) return;
      at += taken;
      yield { offset: at, text: bytes.toString('utf8', 0, taken) };
    }
  } finally {
    await handle.close();
  }
}

/** The number of bytes without an incomplete character at the end. */
function wholeCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return bytes.length;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

interface News extends Disposable {
  /** What happened since the last call. */
  take(): { output: boolean; commits: boolean };
  next(): Promise<void>;
}

/**
 * Notifies when the file grew or something was committed, without polling. Many changes are combined into one check.
 */
function watchFile({ store, clock }: Services, file: string, signal: AbortSignal): News {
  const due = { output: true, commits: true };
  let wake: (() => void) | null = null;
  const ring = (what: keyof typeof due) => {
    due[what] = true;
    wake?.();
  };
  const watcher = watch(dirname(file), (_event, name) => {
    if (name === basename(file)) ring('output');
  });
  const offCommit = store.onCommit((isQuiet) => {
    if (!isQuiet) ring('commits');
  });
  const onAbort = () => wake?.();
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    take() {
      const taken = { ...due };
      Object.assign(due, { output: false, commits: false });
      return taken;
    },
    async next() {
      await clock.sleep(TURN_MS, signal);
      if (due.output || due.commits || signal.aborted) return;
      await new Promise<void>((resolve) => (wake = resolve));
      wake = null;
    },
    [Symbol.dispose]() {
      watcher.close();
      offCommit();
      signal.removeEventListener('abort', onAbort);
    },
  };
}
