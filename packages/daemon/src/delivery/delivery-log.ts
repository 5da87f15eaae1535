import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';

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
  /** Returns why part of the output is missing; null when all of it was saved. */
  close(): Promise<string | null>;
}

/**
 * `hide` removes secrets. It gets whole lines, so that no secret is cut by the end of a chunk. A file that cannot be
 * written fails nothing: what a command did is known by its exit code, not by its output.
 */
export async function openStepLog(file: string, hide: (text: string) => string): Promise<StepLog> {
  let fault: string | null = null;
  const guarded = async <T>(action: () => Promise<T>): Promise<T | null> => {
    try {
      return await action();
    } catch (error) {
      fault = (error as Error).message;
      return null;
    }
  };
  const handle = await guarded(async () => {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    return open(file, 'a', 0o600);
  });
  const size = (await guarded(async () => (await handle?.stat())?.size)) ?? 0;
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
    last = last.then(async () => void (await guarded(async () => handle?.appendFile(text))));
    return last;
  };
  const take = async (text: string): Promise<void> => {
    if (written < head) {
      const safe = hide(text);
      written += safe.length;
      if (written <= head) return put(safe);
    }
    // Hidden when it is written: of very much output, most is dropped.
    kept.push(text);
    keptSize += text.length;
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
      if (kept.length > 0) await put(kept.map(hide).join(''));
      kept = [];
      await last;
      await guarded(async () => handle?.close());
      return fault;
    },
  };
}
