import { type Api, AppError } from '@tidemill/contract';

/** Between two tries while the daemon stops or starts. */
const RETRY_MS = 250;

export interface OutputSource {
  /** The connected daemon. Waits while there is none; throws when the signal is aborted. */
  connected(signal: AbortSignal): Promise<Api>;
  /** Tells when something about the task has happened, or the daemon was found again. */
  onMoved(task: number, listener: () => void): { dispose(): void };
}

export interface FirstRun {
  project: string;
  task: number;
  run: string;
}

/**
 * The output of a task from one run on, also across a restart of the daemon: a run that it interrupted is followed by the next
 * one. Goes on until the signal is aborted.
 */
export async function* outputFrom(
  source: OutputSource,
  first: FirstRun,
  signal: AbortSignal,
): AsyncGenerator<{ text: string } | { note: string }> {
  for (let run = first.run; ; ) {
    for await (const text of outputOf(source, run, signal)) yield { text };
    yield { note: 'the run has ended' };
    run = await nextRun(source, { ...first, run }, signal);
    yield { note: 'the next run' };
  }
}

/** One run's output: everything once, in order. */
async function* outputOf(source: OutputSource, run: string, signal: AbortSignal): AsyncGenerator<string> {
  for (let offset = 0; ; await pause(signal)) {
    const api = await source.connected(signal);
    try {
      // Asked before reading: an answer also ends when the daemon stops, and what was written until then must be read.
      const isOver = (await api.run({ run }, signal)).status !== 'running';
      for await (const chunk of api.runLog({ run, offset, follow: !isOver }, signal)) {
        offset = chunk.offset;
        yield chunk.text;
      }
      signal.throwIfAborted();
      if (isOver) return;
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
  }
}

async function nextRun(source: OutputSource, { project, task, run }: FirstRun, signal: AbortSignal): Promise<string> {
  let wake: () => void = () => undefined;
  const watching = source.onMoved(task, () => wake());
  const stop = () => wake();
  signal.addEventListener('abort', stop);
  try {
    for (;;) {
      // Taken before the question, so that nothing between the two is missed.
      const news = new Promise<void>((resolve) => (wake = resolve));
      const next = await runAfter(await source.connected(signal), { project, task, run }, signal);
      if (next) return next;
      await news;
      signal.throwIfAborted();
    }
  } finally {
    watching.dispose();
    signal.removeEventListener('abort', stop);
  }
}

async function runAfter(api: Api, { project, task, run }: FirstRun, signal: AbortSignal): Promise<string | null> {
  try {
    const { runs } = await api.task({ project, task }, signal);
    const ids = runs.toSorted((a, b) => a.startedAt - b.startedAt).map(({ id }) => id);
    return ids.includes(run) ? (ids[ids.indexOf(run) + 1] ?? null) : null;
  } catch (error) {
    if (isPassing(error)) return null;
    throw error;
  }
}

/** The daemon stops, starts, or was replaced by one with another token. The next try asks the one that is connected then. */
const isPassing = (error: unknown): boolean =>
  error instanceof AppError && (error.code === 'daemon_unreachable' || error.code === 'unauthorized');

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, RETRY_MS);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
