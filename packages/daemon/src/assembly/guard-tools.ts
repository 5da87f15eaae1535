import { AppError, type Project } from '@tidemill/contract';
import { loadSettings } from '../config/load.ts';
import type { GuardTools } from '../engine/learning/guard-flow.ts';
import { createLearnedGuards } from '../guards/learned-guards.ts';
import { createCallLog } from '../guards/recent-calls.ts';
import { createOwnSessions } from '../hooks/own-sessions.ts';

/** What concerns the guards of a project: its files, the recorded calls, the person's own sessions. */
export function guardToolsOf(
  { root }: Project,
  dataDir: string,
  onNote: (text: string, error?: unknown) => void,
): Pick<GuardTools, 'guards' | 'calls' | 'sessions'> {
  return {
    guards: createLearnedGuards({ root, dataDir, gateCommands: () => gateCommands(root) }),
    calls: createCallLog({ root, dataDir, onNote }),
    sessions: createOwnSessions({ root, dataDir }),
  };
}

async function gateCommands(root: string): Promise<string[]> {
  try {
    return (await loadSettings(root)).config.gates.map(({ run }) => run).filter((run) => run !== '');
  } catch (error) {
    // An invalid config is reported elsewhere, and has no gates that could run.
    if (error instanceof AppError) return [];
    throw error;
  }
}
