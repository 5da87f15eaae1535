import { randomUUID } from 'node:crypto';
import { type ChildHost, startChild } from '../process/child.ts';
import { CONTAINER_SOCKETS } from '../process/sandbox.ts';

const LIMIT_MS = 60_000;

/**
 * Runs the project's `cleanup` commands in a worktree that is about to be removed. A failure is logged and stops
 * nothing.
 */
export async function cleanUp(
  commands: string[],
  host: ChildHost,
  folder: string,
  onNote: (text: string) => void,
): Promise<void> {
  for (const command of commands) {
    const ended = await startChild({
      host,
      runId: `cleanup_${randomUUID()}`,
      command: ['sh', '-c', command],
      cwd: folder,
      env: { CI: '1' },
      network: true,
      writable: CONTAINER_SOCKETS,
      timeoutMs: LIMIT_MS,
      onOutput: () => undefined,
    }).end;
    if (ended.kind !== 'exited' || ended.exitCode !== 0)
      onNote(`the cleanup command \`${command}\` did not succeed in ${folder}`);
  }
}
