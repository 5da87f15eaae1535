import { watch } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { AppError, type LogChunk, type RouteRequest, type Run } from '@tidemill/contract';
import type { Services } from '../context.ts';

const CHUNK = 64 * 1024;
const TURN_MS = 100;

export async function showRun({ store }: Services, input: RouteRequest<'run'>): Promise<Run> {
  const run = await store.run(input.run);
  if (run) return run;
  throw new AppError('not_found', `there is no run "${input.run}"`, {
    hint: '`tidemill task show NUMBER` lists the runs of a task.',
  });
}

/** A run's output from an offset on: what is there, or until the run ends. */
export async function streamRunLog(
  services: Services,
  input: RouteRequest<'runLog'>,
  signal: AbortSignal,
): Promise<AsyncIterable<LogChunk>> {
  await showRun(services, { run: input.run });
  return chunks(services, input, signal);
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
    // Taken before looking, so that nothing falls between the look and the wait.
    const { output, commits } = news?.take() ?? { output: true, commits: true };
    // Asked before reading: what is written before a run ends is read after its end was seen.
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

/** Whole characters only, so that every offset is one to go on from; what is left of one at the very end is given too. */
async function* readFrom(file: string, offset: number, isLast: boolean): AsyncGenerator<LogChunk> {
  let handle: FileHandle;
  try {
    handle = await open(file);
  } catch (error) {
    // A run that has said nothing yet, or whose output is past its retention, has no file.
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

/** How many bytes are left when a character that is cut off at the end is left out. */
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
  /** What happened since it was last asked. */
  take(): { output: boolean; commits: boolean };
  next(): Promise<void>;
}

/** Tells when the file grew or something was committed. No polling; however much happens, it is looked at in turns. */
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
