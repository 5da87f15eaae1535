import { MOST_PER_RUN, type Trace } from '@tidemill/contract';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { accept, refuse } from '../refusal.ts';
import { patternId } from './pattern.ts';

export interface TraceCommands {
  /** Its id says where it comes from, so that a repetition changes nothing. */
  'trace.store': { trace: Omit<Trace, 'noun' | 'projectId'> };
}

export const traceCommands: CommandParts<keyof TraceCommands> = {
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
