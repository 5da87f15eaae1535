import { type FileHandle, mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '@tidemill/contract';

/** One log holds at most about this much, over all steps. */
const MOST_BYTES = 5_000_000;
const STEP_HEAD = 1_000_000;
const STEP_TAIL = 1_000_000;
/** What a step may write to a log that is full. */
const LAST_BYTES = 20_000;
/** A longer line is written in parts. */
const LONGEST_LINE = 16_384;

/** The output of one step, at the end of its delivery's log. The head is on disk at once, the end when the step ends. */
export interface StepLog {
  write(chunk: Buffer): Promise<void>;
  line(text: string): Promise<void>;
  close(): Promise<void>;
}

/** `hide` removes secrets. It gets whole lines, so that no secret is cut by the end of a chunk. */
export async function openStepLog(file: string, hide: (text: string) => string): Promise<StepLog> {
  const handle = await guarded(async () => {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    return open(file, 'a', 0o600);
  });
  const { size } = await handle.stat();
  const isFull = size > MOST_BYTES - STEP_HEAD - STEP_TAIL;
  const head = isFull ? LAST_BYTES / 2 : STEP_HEAD;
  const tail = isFull ? LAST_BYTES / 2 : STEP_TAIL;
  const decoder = new TextDecoder();
  let open_ = '';
  let written = 0;
  let kept: string[] = [];
  let keptSize = 0;
  let dropped = 0;
  let last: Promise<void> = Promise.resolve();
  const put = (text: string) => {
    last = last.then(() => guarded(() => append(handle, text)));
    return last;
  };
  const take = async (text: string): Promise<void> => {
    const safe = hide(text);
    if (written + safe.length <= head) {
      written += safe.length;
      return put(safe);
    }
    written = head;
    kept.push(safe);
    keptSize += safe.length;
    while (keptSize > tail && kept.length > 1) {
      const gone = kept.shift()!;
      keptSize -= gone.length;
      dropped += gone.length;
    }
  };
  return {
    async write(chunk) {
      open_ += decoder.decode(chunk, { stream: true });
      const end = open_.lastIndexOf('\n') + 1;
      // The rest may be the beginning of a secret. Only a very long line is not waited for, and not cut within a secret.
      if (end === 0 && open_.length > LONGEST_LINE) open_ = hide(open_);
      const cut = end > 0 ? end : open_.length > LONGEST_LINE ? open_.length - LONGEST_LINE / 4 : 0;
      if (cut === 0) return;
      const whole = open_.slice(0, cut);
      open_ = open_.slice(cut);
      await take(whole);
    },
    line: (text) => take(`${text}\n`),
    async close() {
      if (open_ !== '') await take(`${open_}\n`);
      if (dropped > 0) await put(`\n[${(dropped / 1e6).toFixed(1)} MB of output cut here]\n`);
      if (kept.length > 0) await put(kept.join(''));
      kept = [];
      await last;
      await handle.close();
    },
  };
}

async function append(handle: FileHandle, text: string): Promise<void> {
  await handle.appendFile(text);
}

async function guarded<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC';
    throw new AppError(
      isFull ? 'disk_full' : 'store_failed',
      `cannot save the log of a delivery: ${(error as Error).message}`,
      {
        hint: isFull ? 'Free some space in the data folder.' : 'Make the data folder writable.',
        retriable: true,
        cause: error,
      },
    );
  }
}
