import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '@tidemill/contract';

const KEPT_HEAD = 2.5 * 1024 * 1024;
const KEPT_TAIL = 2.5 * 1024 * 1024;
/** Enough for a summary and an excerpt. More would block the daemon. */
const SEEN_END = 256 * 1024;

/** A gate's output: its head goes straight to disk, its end is held until it is known to be the end. */
export interface GateLog {
  write(chunk: Buffer): Promise<void>;
  /** The end of the text so far. */
  end(): string;
  /** Stores the log under its hash. Returns the hash and the end of the text. */
  keep(): Promise<{ hash: string; end: string }>;
  /** Leaves nothing behind. */
  discard(): Promise<void>;
}

export async function openGateLog(folder: string): Promise<GateLog> {
  const temporary = path.join(folder, `.${randomUUID()}.tmp`);
  const handle = await guarded(async () => {
    await mkdir(folder, { recursive: true });
    return open(temporary, 'wx');
  });
  const hash = createHash('sha256');
  const headEnd = createTail(SEEN_END);
  const tail = createTail(KEPT_TAIL);
  let headSize = 0;
  /** stdout and stderr arrive concurrently. Hash and file need the same order. */
  let lastPut: Promise<void> = Promise.resolve();

  const put = (data: Buffer) => {
    hash.update(data);
    const copy = Buffer.from(data);
    lastPut = lastPut.then(() => guarded(() => writeAll(handle, copy)));
    return lastPut;
  };
  const endOf = (...parts: Buffer[]) =>
    Buffer.concat([headEnd.take().data, ...parts])
      .subarray(-SEEN_END)
      .toString('utf8');
  return {
    end: () => endOf(tail.take().data),
    async write(chunk) {
      const toHead = chunk.subarray(0, Math.max(0, KEPT_HEAD - headSize));
      headSize += toHead.length;
      headEnd.add(toHead);
      tail.add(chunk.subarray(toHead.length));
      if (toHead.length > 0) await put(toHead);
    },
    async keep() {
      const { data, dropped } = tail.take();
      const mark = Buffer.from(dropped > 0 ? `\n[${(dropped / 1e6).toFixed(1)} MB of output cut here]\n` : '');
      await put(Buffer.concat([mark, data]));
      await guarded(() => handle.close());
      const name = hash.digest('hex');
      await guarded(() => rename(temporary, path.join(folder, `${name}.log`)));
      return { hash: name, end: endOf(mark, data) };
    },
    async discard() {
      await lastPut.catch(() => undefined); // the writer got the error
      await handle.close().catch(() => undefined); // already closed if keep() succeeded
      await rm(temporary, { force: true });
    },
  };
}

/** The end of a stored log; empty when it is not there. */
export async function readGateLog(folder: string, hash: string): Promise<string> {
  // It becomes part of a path.
  if (!/^[0-9a-f]{64}$/.test(hash)) return '';
  try {
    await using handle = await open(path.join(folder, `${hash}.log`), 'r');
    const { size } = await handle.stat();
    const length = Math.min(size, SEEN_END);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString('utf8', 0, bytesRead);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** The last bytes of a stream in a ring, so that neither its length nor the size of its chunks matters. */
function createTail(size: number) {
  let ring: Buffer | null = null;
  let total = 0;
  return {
    add(chunk: Buffer) {
      if (chunk.length === 0) return;
      ring ??= Buffer.allocUnsafe(size);
      const kept = chunk.subarray(-size);
      const at = (total + chunk.length - kept.length) % size;
      const fitting = kept.copy(ring, at);
      kept.copy(ring, 0, fitting);
      total += chunk.length;
    },
    take(): { data: Buffer; dropped: number } {
      if (!ring) return { data: Buffer.alloc(0), dropped: 0 };
      if (total <= size) return { data: ring.subarray(0, total), dropped: 0 };
      const at = total % size;
      return { data: Buffer.concat([ring.subarray(at), ring.subarray(0, at)]), dropped: total - size };
    },
  };
}

async function writeAll(handle: FileHandle, data: Buffer): Promise<void> {
  for (let at = 0; at < data.length; ) at += (await handle.write(data, at)).bytesWritten;
}

/** Evidence needs its log: a log that cannot be stored is an error, never a verdict. */
async function guarded<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC';
    throw new AppError(isFull ? 'disk_full' : 'store_failed', `cannot save a gate's log: ${(error as Error).message}`, {
      hint: isFull ? 'Free some space in the data folder.' : 'Make the data folder writable.',
      retriable: true,
      cause: error,
    });
  }
}
