import type { AgentEnd, AgentSession } from '../ports.ts';

/** A session as the port promises it: it settles once and never rejects, and a stop ends when the run has ended. */
export function beginSession(play: (stopped: AbortSignal) => Promise<AgentEnd>): AgentSession {
  const stopped = new AbortController();
  const end = play(stopped.signal).catch(
    (error: Error): AgentEnd => ({
      kind: 'failed',
      failure: 'unknown',
      message: `the run broke off: ${error.message}`,
      exitCode: null,
    }),
  );
  return {
    end,
    stop: async () => {
      stopped.abort();
      await end;
    },
  };
}
