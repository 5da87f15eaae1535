import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '@tidemill/contract';
import type { Daemon } from '../assembly/daemon.ts';
import { type Reached, reachDaemon } from '../assembly/reach.ts';
import type { BindOptions } from '../http/bind.ts';
import type { CliContext } from './context.ts';

const START_ATTEMPTS = 50;
const START_PAUSE_MS = 100;

/** Loaded during another wait; a command that finds a running daemon does not need it. */
export const loadDaemon = () => import('../assembly/daemon.ts');

type Found = { running: Reached; started?: undefined } | { running?: undefined; started: Daemon };

export type { Reached };

/** If several start at once, one becomes the daemon and the others wait until it can be reached. */
export async function startOrFind(env: NodeJS.ProcessEnv, port: number, bind: BindOptions = {}): Promise<Found> {
  for (let attempt = 1; ; attempt += 1) {
    const running = await reachDaemon(env);
    if (running) return { running };
    try {
      const { Daemon } = await loadDaemon();
      return { started: await Daemon.start({ env, port, bind }) };
    } catch (error) {
      const isTaken = error instanceof AppError && error.code === 'daemon_running';
      if (!isTaken || attempt === START_ATTEMPTS) throw error;
      await delay(START_PAUSE_MS);
    }
  }
}

/** The first signal stops gracefully, the second stops at once, the third exits the process. */
export function stopOnSignals(daemon: Daemon, { terminal }: CliContext): { off(): void } {
  let count = 0;
  const onSignal = () => {
    count += 1;
    if (count > 2) process.exit(130);
    terminal.err.write(
      count === 1
        ? '\ntidemill: stopping at the next checkpoint; press again to stop now\n'
        : 'tidemill: stopping now\n',
    );
    void daemon.stop({ now: count > 1 });
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  return {
    off() {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
