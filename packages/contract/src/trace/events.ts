import { z } from 'zod';
import { event, said } from '../event/define.ts';
import { Trace } from './trace.ts';

export const traceEvents = [
  event(
    'trace.stored',
    { trace: Trace },
    {
      stale: ['traces', 'patterns'],
      leavesSummary: true,
      shown: 'log',
      says: ({ trace: { by, type, what } }) => said(by, `${type} recorded: ${beginning(what)}`),
    },
  ),
  event(
    'trace.retrieved',
    { traceIds: z.array(z.string()), runId: z.string() },
    {
      leavesSummary: true,
      shown: 'log',
      says: ({ traceIds }) =>
        said('tidemill', `an agent read ${traceIds.length === 1 ? 'a trace' : `${traceIds.length} traces`}`),
    },
  ),
] as const;

function beginning(text: string): string {
  const [line = ''] = text.split('\n');
  return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}
