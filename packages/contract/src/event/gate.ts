import { took } from '../duration-text.ts';
import { Evidence } from '../gate.ts';
import { event, said } from './event.ts';

export const gateEvents = [
  event(
    'evidence.recorded',
    { evidence: Evidence },
    {
      stale: ['task'],
      leavesSummary: true,
      shown: ({ evidence }) => (evidence.status === 'pass' ? 'page' : 'terminal'),
      says: ({ evidence: { gate, status, durationMs } }) =>
        said(
          `gate ${gate}`,
          `${status === 'pass' ? 'passed' : status === 'fail' ? 'failed' : status}, ${took(durationMs)}`,
        ),
    },
  ),
] as const;
