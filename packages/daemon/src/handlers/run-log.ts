import { watch } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { AppError, type LogChunk, type RouteRequest, type Run } from '@tidemill/contract';
import type { Services } from './context.ts';

const CHUNK = 64 * 1024;

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
  const file = services.folder.runLog(input.run);
  const decoder = new StringDecoder('utf8');
  using news = input.follow ? watchFile(services, file, signal) : null;
  let offset = input.offset;
  for (;;) {
    // Asked before reading: what is written before a run ends is read after its end was seen.
    const isOver = (await showRun(services, { run: input.run })).status !== 'running';
    for await (const bytes of readFrom(file, offset)) {
      offset += bytes.length;
      const text = decoder.write(bytes);
      if (text !== '') yield { offset, text };
    }
    if (isOver || !news || signal.aborted) break;
    await news.next();
  }
  const rest = decoder.end();
  if (rest !== '') yield { offset, text: rest };
}

async function* readFrom(file: string, offset: number): AsyncGenerator<Buffer> {
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
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** Resolves `next` when the file grew or something was committed since the last time. No polling. */
function watchFile({ store }: Services, file: string, signal: AbortSignal): Disposable & { next(): Promise<void> } {
  let isDue = false;
  let wake: (() => void) | null = null;
  const ring = () => {
    isDue = true;
    wake?.();
  };
  const watcher = watch(dirname(file), (_event, name) => {
    if (name === basename(file)) ring();
  });
  const offCommit = store.onCommit(ring);
  signal.addEventListener('abort', ring, { once: true });
  return {
    async next() {
      if (!isDue) await new Promise<void>((resolve) => (wake = resolve));
      wake = null;
      isDue = false;
    },
    [Symbol.dispose]() {
      watcher.close();
      offCommit();
      signal.removeEventListener('abort', ring);
    },
  };
}
