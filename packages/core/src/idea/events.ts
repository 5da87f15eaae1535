import type { Idea } from '@tidemill/contract';
import type { Reductions } from '../noun.ts';
import type { Slice } from '../slice.ts';
import { withChanges, withCorrection, withoutSignal } from './signals.ts';

export const ideaEvents = {
  'idea.created': (slice, { idea }, { projectId }) => {
    slice.records.put(idea);
    const project = slice.projects.get(projectId)!;
    slice.projects.put({ ...project, nextIdea: idea.number + 1 });
  },
  'idea.said': (slice, { ideaId, message }, { at }) => {
    slice.records.put(message);
    change(slice, ideaId, at, () => ({ messageCount: message.number, hasNews: true }));
  },
  'idea.reply_requested': (slice, { ideaId, jobId }, { at }) =>
    change(slice, ideaId, at, () => ({ jobId, failure: null, hasNews: true })),
  'idea.reply_due': (slice, { ideaId }, { at }) => change(slice, ideaId, at, () => ({ hasNews: true })),
  'idea.reply_begun': (slice, { ideaId, upTo }, { at }) =>
    change(slice, ideaId, at, () => ({ briefedUpTo: upTo, hasNews: false })),
  'idea.replied': (slice, body, { at }) => {
    const { ideaId, message, title, complexity, research } = body;
    slice.records.put(message);
    change(slice, ideaId, at, (idea) => ({
      ...withChanges(idea, body),
      title: title ?? idea.title,
      complexity,
      research: research ?? idea.research,
      messageCount: message.number,
      jobId: null,
      failure: null,
    }));
  },
  'idea.reply_ended': (slice, { ideaId, end, why }, { at }) =>
    change(slice, ideaId, at, () => ({ jobId: null, hasNews: true, failure: end === 'asked' ? null : why || end })),
  'idea.advanced': (slice, { ideaId, to, brief }, { at }) =>
    change(slice, ideaId, at, (idea) => ({
      phase: to,
      ...(to === 'COMPLETE' ? { status: 'complete' as const } : {}),
      ...(brief ? { artifacts: [...idea.artifacts, brief] } : {}),
    })),
  'idea.corrected': (slice, { ideaId, by, ...corrected }, { at }) =>
    change(slice, ideaId, at, (idea) => withCorrection(idea, corrected, by)),
  'idea.signal_removed': (slice, { ideaId, kind, key, fingerprint }, { at }) =>
    change(slice, ideaId, at, (idea) => withoutSignal(idea, kind, key, fingerprint)),
  'idea.paused': (slice, { ideaId }, { at }) => change(slice, ideaId, at, () => ({ status: 'paused' })),
  'idea.resumed': (slice, { ideaId }, { at }) =>
    change(slice, ideaId, at, ({ phase }) => ({ status: phase === 'COMPLETE' ? 'complete' : 'active' })),
  'idea.archived': (slice, { ideaId }, { at }) => change(slice, ideaId, at, () => ({ status: 'archived' })),
  'idea.researched': (slice, { ideaId, research, artifact }, { at }) =>
    change(slice, ideaId, at, (idea) => ({
      ...(artifact
        ? withChanges(idea, { artifacts: [artifact], decisions: [], risks: [], confidence: idea.confidence })
        : {}),
      research,
    })),
} satisfies Reductions;

function change(slice: Slice, ideaId: string, at: number, changes: (idea: Idea) => Partial<Idea>): void {
  const idea = slice.record('idea', ideaId);
  if (idea) slice.records.put({ ...idea, ...changes(idea), changedAt: at });
}
