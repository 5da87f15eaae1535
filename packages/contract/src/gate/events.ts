import { event, said } from '../event/define.ts';
import { took } from '../text/duration-text.ts';
import { Evidence, gateWord } from './gate.ts';

export const gateEvents = [
  event(
    'evidence.recorded',
    { evidence: Evidence },
    {
      stale: ['task'],
      leavesSummary: true,
      shown: ({ evidence }) => (evidence.status === 'pass' ? 'page' : 'terminal'),
      says: ({ evidence }) => {
        const { gate, durationMs, scan } = evidence;
        return said(`gate ${gate}`, `${gateWord(evidence)}, ${took(durationMs)}${scan ? `: ${scan.summary}` : ''}`);
      },
    },
  ),
] as const;
