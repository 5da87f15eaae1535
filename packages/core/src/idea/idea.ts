import {
  type Actor,
  type EventBody,
  type Idea,
  type IdeaMessage,
  ideaMessageId,
  ideaRef,
  plainLine,
  type Refusal,
} from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { slugOf } from '../slug.ts';
import { withdrawnQuestions } from '../subject/questions.ts';
import { SURE_ENOUGH } from './phase.ts';
import { askForReply } from './reply.ts';
import { correctionOf, markOf, nextResearchType } from './signals.ts';

const LONGEST_TITLE = 80;

/** The first sentence of the first message, cut at a word. */
export function titleOf(text: string): string {
  const line = plainLine(text.split('\n').find((each) => each.trim() !== '') ?? '').replace(/^#+\s*/, '');
  const [sentence = line] = line.split(/(?<=[.!?。؟])\s/u);
  const title = sentence.replace(/[.。]$/u, '');
  if (title.length <= LONGEST_TITLE) return title;
  const cut = title.slice(0, LONGEST_TITLE).replace(/[\uD800-\uDBFF]$/, '');
  return `${cut.replace(/\s+\S*$/, '')}…`;
}

type Found = { ok: true; idea: Idea } | { ok: false; refusal: Refusal };

function findIdea(slice: Slice, { projectId, ideaId }: { projectId: string; ideaId: string }): Found {
  const idea = slice.record('idea', ideaId);
  return idea?.projectId === projectId ? { ok: true, idea } : refuse('not_found', `there is no idea ${ideaId}`);
}

export function createIdea(slice: Slice, command: CommandOf<'idea.create'>, env: DecideEnv): Decision {
  const { projectId, ideaId, text, by } = command;
  const project = slice.projects.get(projectId);
  if (!project) return refuse('not_found', `there is no project ${projectId}`);
  if (slice.record('idea', ideaId)) return refuse('conflict', 'that idea was already created');
  const title = command.title || titleOf(text);
  const idea = newIdea({ ideaId, projectId, number: project.nextIdea, title, by }, env);
  const message = messageOf(idea, text, by, env);
  return accept(
    { type: 'idea.created', ideaId, idea, by },
    { type: 'idea.said', ideaId, message },
    ...askForReply(idea, by, env),
  );
}

function newIdea(
  {
    ideaId: id,
    projectId,
    number,
    title,
    by,
  }: { ideaId: string; projectId: string; number: number; title: string; by: Actor },
  { now }: DecideEnv,
): Idea {
  return {
    noun: 'idea',
    id,
    projectId,
    number,
    title,
    slug: `${number}-${slugOf(title, 'idea')}`,
    status: 'active',
    phase: 'EXPLORING',
    artifacts: [],
    decisions: [],
    risks: [],
    confidence: 0,
    confidenceBy: null,
    complexity: 0,
    removed: [],
    forkedFrom: null,
    jobId: null,
    messageCount: 0,
    briefedUpTo: 0,
    hasNews: false,
    failure: null,
    research: null,
    by,
    createdAt: now,
    changedAt: now,
  };
}

const messageOf = (
  { id: ideaId, projectId, messageCount, phase }: Idea,
  text: string,
  by: Actor,
  { now }: DecideEnv,
): IdeaMessage => ({
  noun: 'message',
  id: ideaMessageId(ideaId, messageCount + 1),
  projectId,
  ideaId,
  number: messageCount + 1,
  role: 'person',
  by,
  text,
  phase,
  runId: null,
  at: now,
});

export function sayToIdea(slice: Slice, command: CommandOf<'idea.say'>, env: DecideEnv): Decision {
  const found = findIdea(slice, command);
  if (!found.ok) return found;
  const { idea } = found;
  const closed = whyClosed(idea);
  if (closed) return closed;
  const said: EventBody = {
    type: 'idea.said',
    ideaId: idea.id,
    message: messageOf(idea, command.text, command.by, env),
  };
  // While a reply is written, the message waits for the next one.
  return accept(said, ...(idea.jobId === null ? askForReply(idea, command.by, env) : []));
}

function whyClosed({ status, number }: Idea): (Decision & { ok: false }) | null {
  const ref = ideaRef(number);
  switch (status) {
    case 'active':
      return null;
    case 'paused':
      return refuse('conflict', `${ref} is paused`, `resume it first: tidemill idea resume ${number}`);
    case 'archived':
      return refuse('conflict', `${ref} is archived`, `resume it first: tidemill idea resume ${number}`);
    case 'complete':
      return refuse(
        'conflict',
        `${ref} is complete: its brief is what a specification is made from`,
        `continue it as another idea: tidemill idea fork ${number}`,
      );
  }
}

export function correctIdea(slice: Slice, command: CommandOf<'idea.correct'>, env: DecideEnv): Decision {
  const found = findIdea(slice, command);
  if (!found.ok) return found;
  const { correction, by, ideaId } = command;
  const corrected = correctionOf(found.idea, correction, by, env);
  if (!corrected) return refuse('not_found', `${ideaRef(found.idea.number)} has no such ${correction.kind}`);
  return accept({ type: 'idea.corrected', ideaId, by, ...corrected });
}

export function removeSignal(slice: Slice, command: CommandOf<'idea.remove_signal'>): Decision {
  const found = findIdea(slice, command);
  if (!found.ok) return found;
  const { kind, key, by, ideaId } = command;
  const mark = markOf(found.idea, kind, key);
  if (mark === null) return refuse('not_found', `${ideaRef(found.idea.number)} has no ${kind} "${key}"`);
  return accept({ type: 'idea.signal_removed', ideaId, by, kind, key, fingerprint: mark });
}

export function pauseIdea(slice: Slice, command: CommandOf<'idea.pause'>): Decision {
  const found = findIdea(slice, command);
  if (!found.ok) return found;
  const { idea } = found;
  if (idea.status !== 'active') return refuse('conflict', `${ideaRef(idea.number)} is ${idea.status}`);
  return accept({ type: 'idea.paused', ideaId: idea.id, by: command.by });
}

/** Continues a paused or archived idea. For an active one, a reply that failed is tried again. */
export function resumeIdea(slice: Slice, command: CommandOf<'idea.resume'>, env: DecideEnv): Decision {
  const found = findIdea(slice, command);
  if (!found.ok) return found;
  const { idea } = found;
  const { by } = command;
  const ref = ideaRef(idea.number);
  if (idea.status === 'complete') return whyClosed(idea)!;
  const wantsReply = idea.jobId === null && idea.hasNews && idea.phase !== 'COMPLETE';
  if (idea.status === 'active' && !wantsReply)
    return refuse('conflict', `${ref} is active and nothing waits for a reply`);
  const resumed: EventBody[] = idea.status === 'active' ? [] : [{ type: 'idea.resumed', ideaId: idea.id, by }];
  return accept(...resumed, ...(wantsReply ? askForReply(idea, by, env) : []));
}

export function archiveIdea(slice: Slice, command: CommandOf<'idea.archive'>): Decision {
  const found = findIdea(slice, command);
  if (!found.ok) return found;
  const { idea } = found;
  if (idea.status === 'archived') return refuse('conflict', `${ideaRef(idea.number)} is already archived`);
  return accept(
    { type: 'idea.archived', ideaId: idea.id, by: command.by },
    ...withdrawnQuestions(slice, idea.id, 'its idea was archived'),
  );
}

/** Another idea with the same signals. Its conversation goes on from the original's last message. */
export function forkIdea(slice: Slice, command: CommandOf<'idea.fork'>, env: DecideEnv): Decision {
  const found = findIdea(slice, command);
  if (!found.ok) return found;
  const { idea } = found;
  const { projectId, forkId: ideaId, by } = command;
  const project = slice.projects.get(projectId)!;
  if (slice.record('idea', ideaId)) return refuse('conflict', 'that idea was already created');
  const title = command.title || idea.title;
  const fresh = newIdea({ ideaId, projectId, number: project.nextIdea, title, by }, env);
  const phase = idea.phase === 'COMPLETE' ? 'REFINING' : idea.phase;
  const { decisions, risks, complexity, removed } = idea;
  const fork: Idea = {
    ...fresh,
    ...{ decisions, risks, complexity, removed },
    // It is not complete at once: the agent says again how sure it is.
    confidence: Math.min(idea.confidence, SURE_ENOUGH),
    phase,
    artifacts: idea.artifacts.filter(({ type }) => type !== 'brief'),
    forkedFrom: { ideaId: idea.id, number: idea.number, upTo: idea.messageCount, phase },
  };
  return accept({ type: 'idea.created', ideaId, idea: fork, by });
}

/** Records the result of a search, or why there is none. The agent gets it with its next reply. */
export function endResearch(slice: Slice, command: CommandOf<'idea.end_research'>, env: DecideEnv): Decision {
  const found = findIdea(slice, command);
  if (!found.ok) return found;
  const { idea } = found;
  if (idea.research?.status !== 'wanted') return refuse('conflict', `${ideaRef(idea.number)} waits for no search`);
  const { status, why, artifact, by } = command;
  const research = { ...idea.research, status, why, at: env.now };
  const kept = artifact ? { ...artifact, type: nextResearchType(idea), correctedBy: null, at: env.now } : null;
  const isNews = status === 'done' && idea.status === 'active';
  return accept(
    { type: 'idea.researched', ideaId: idea.id, research, artifact: kept },
    ...(isNews && idea.jobId === null ? askForReply(idea, by, env) : []),
    ...(isNews && idea.jobId !== null ? [{ type: 'idea.reply_due', ideaId: idea.id } as const] : []),
  );
}
