import type { FeedbackItem } from '@tidemill/contract';
import type { Reductions } from '../noun.ts';
import type { Slice } from '../slice.ts';

export const feedbackEvents = {
  'feedback.given': (slice, { feedbackId: id, number, text, by }, { projectId, at }) => {
    const project = slice.projects.get(projectId)!;
    slice.projects.put({ ...project, nextFeedback: number + 1 });
    const nothing = { jobId: null, rounds: 0, analysis: null, taskNumber: null, linkedTask: null, linkedSpec: null };
    const given = { noun: 'feedback', id, projectId, number, text, by, at, status: 'open' } as const;
    slice.records.put({ ...given, ...nothing, why: '', endedAt: null });
  },
  'feedback.taken_up': (slice, { feedbackId, jobId }) =>
    change(slice, feedbackId, { status: 'open', jobId, analysis: null, why: '', endedAt: null }),
  'feedback.asked': (slice, { feedbackId, rounds }) => change(slice, feedbackId, { status: 'asking', rounds }),
  'feedback.analysed': (slice, { feedbackId, analysis }) => change(slice, feedbackId, { analysis }),
  'feedback.filed': (slice, { feedbackId, taskNumber, linkedTask, linkedSpec }, { at }) =>
    change(slice, feedbackId, { status: 'filed', taskNumber, linkedTask, linkedSpec, endedAt: at }),
  'feedback.failed': (slice, { feedbackId, why }, { at }) =>
    change(slice, feedbackId, { status: 'failed', why, endedAt: at }),
  'feedback.dismissed': (slice, { feedbackId, why }, { at }) =>
    change(slice, feedbackId, { status: 'dismissed', why, endedAt: at }),
} satisfies Reductions;

function change(slice: Slice, id: string, changed: Partial<FeedbackItem>): void {
  const item = slice.record('feedback', id);
  if (item) slice.records.put({ ...item, ...changed });
}
