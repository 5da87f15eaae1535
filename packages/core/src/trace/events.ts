import type { Reductions } from '../noun.ts';
import { counted, patternId } from './pattern.ts';

export const traceEvents = {
  'trace.stored': (slice, { trace }) => {
    slice.records.put(trace);
    slice.records.put(counted(slice.record('pattern', patternId(trace.projectId, trace.key)), trace));
  },
  'trace.retrieved': () => undefined,
} satisfies Reductions;
