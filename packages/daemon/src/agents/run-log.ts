import { type FileHandle, mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { AppError } from '@tidemill/contract';
import type { Clock, OpenRunLog, RunLog } from '../ports.ts';

export const RUN_LOG_CAP = 5 * 1024 * 1024;
const TRUNCATION_MARK = '\n[output truncated at 5 MB]\n';
const FLUSH_MS = 100;
const FLUSH_BYTES = 256 * 1024;

export interface RunLogOptions {
  dir: string;
  clock: Clock;
  /** Called once per log that cannot be written, for example on a full disk. The run continues without its log. */
  onError?: (runId: string, error: AppError) => void;
}

/** Output of runs, in `dir/<runId>.log`. A reopened log continues at its end, with the same cap. */
export function createRunLog({ dir, clock, onError = warn }: RunLogOptions): OpenRunLog {
  return (runId) => {
    if (!/^[\w.-]+$/.test(runId)) throw new AppError('bad_input', `${JSON.stringify(runId)} is no run id`);
    return openLog(path.join(dir, `${runId}.log`), clock, (error) => {
      const code = (error as NodeJS.ErrnoException).code === 'ENOSPC' ? 'disk_full' : 'store_failed';
      onError(runId, new AppError(code, `the output of ${runId} cannot be kept: ${error.message}`, { cause: error }));
    });
  };
}

function openLog(file: string, clock: Clock, report: (error: Error) => void): RunLog {
  let pending = '';
  let handle: FileHandle | null = null;
  let size = 0;
  let accepted = 0;
  /** Characters that could not be written, such as on a full disk; the log says so once it can be written again. */
  let lost = 0;
  let isTold = false;
  let isTimed = false;
  /** Writes happen one after another; this is the last of them. */
  let tail: Promise<void> = Promise.resolve();
  const closing = new AbortController();

  const append = async (text: string) => {
    try {
      if (!handle) {
        await mkdir(path.dirname(file), { recursive: true });
        handle = await open(file, 'a');
        size = (await handle.stat()).size;
      }
      if (size >= RUN_LOG_CAP) return;
      const whole =
        lost === 0 ? text : `\n[${lost} characters of output were lost: the log could not be written]\n${text}`;
      const fitting = cutToBytes(whole, RUN_LOG_CAP - size);
      const isCut = fitting.length < whole.length;
      await handle.appendFile(isCut ? fitting + TRUNCATION_MARK : fitting);
      size = isCut ? RUN_LOG_CAP : size + Buffer.byteLength(fitting);
      lost = 0;
    } catch (error) {
      lost += text.length;
      if (!isTold) report(error as Error);
      isTold = true;
    }
  };
  const flush = () => {
    const text = pending;
    pending = '';
    if (text !== '') tail = tail.then(() => append(text));
    return tail;
  };
  /** The first words after a silence are written at once: somebody may be reading along. */
  const flushSoon = async () => {
    if (isTimed) return;
    isTimed = true;
    while (pending !== '' && !closing.signal.aborted) {
      void flush();
      await clock.sleep(FLUSH_MS, closing.signal);
    }
    isTimed = false;
  };

  return {
    write(chunk) {
      // Text beyond the cap must not pile up behind a slow disk. A character has at least one byte.
      if (accepted > RUN_LOG_CAP) return;
      accepted += chunk.length;
      pending += chunk;
      if (pending.length >= FLUSH_BYTES) void flush();
      else void flushSoon();
    },
    async close() {
      closing.abort();
      await flush();
      await handle?.close().catch(report);
      handle = null;
    },
  };
}

/** The longest start of the text that fits, never half a character. */
function cutToBytes(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(most));
  return text.slice(0, read);
}

function warn(_runId: string, error: AppError): void {
  process.emitWarning(error.message);
}
