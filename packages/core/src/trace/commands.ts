import { MOST_PER_RUN, type Trace } from '@tidemill/contract';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { accept, refuse } from '../refusal.ts';
import { patternId } from './pattern.ts';

export interface TraceCommands {
  /** Its id says where it comes from, so that a repetition changes nothing. */
  'trace.store': { trace: Omit<Trace, 'noun' | 'projectId'> };
  /** An agent was given these, or asked for them. What is stored and never read is of no use, so it is counted. */
  'trace.retrieve': { traceIds: string[]; runId: string };
}

export const traceCommands: CommandParts<keyof TraceCommands> = {
  'trace.retrieve': {
    scope: () => [],
    decide: (_slice, { traceIds, runId }) =>
      traceIds.length === 0 ? accept() : accept({ type: 'trace.retrieved', traceIds, runId }),
  },
  'trace.store': {
    scope: ({ projectId, trace }) => [look('record', trace.id), look('record', patternId(projectId, trace.key))],
    decide: (slice, { projectId, trace }) => {
      if (trace.what.trim() === '' || trace.key === '')
        return refuse('bad_input', 'a trace says what happened', 'give a text and a key');
      if (slice.record('trace', trace.id)) return accept();
      // An agent that tries the same a thousand times must not fill the store.
      const { lastRun = null } = slice.record('pattern', patternId(projectId, trace.key)) ?? {};
      if (lastRun !== null && lastRun.runId === trace.runId && lastRun.count >= MOST_PER_RUN) return accept();
      return accept({ type: 'trace.stored', trace: { noun: 'trace', projectId, ...trace } });
    },
  },
};
