import type { Handlers } from '../handler.ts';
import { recentEvents, streamEvents } from './event.ts';
import { listEvidence, verifyEvidence } from './evidence.ts';
import { showEvidenceLog } from './evidence-log.ts';
import { searchLog } from './log-search.ts';
import { showRun, streamRunLog } from './run-log.ts';
import { listSnapshots, restoreSnapshot } from './snapshot.ts';

export const recordHandlers: Handlers<'records'> = {
  run: showRun,
  runLog: streamRunLog,
  searchLog,
  evidence: listEvidence,
  evidenceLog: showEvidenceLog,
  verifyEvidence,
  snapshots: listSnapshots,
  restoreSnapshot,
  events: streamEvents,
  recentEvents,
};
