import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { event, mill, said } from '../event/define.ts';
import {
  Idea,
  IdeaArtifact,
  IdeaDecision,
  IdeaMessage,
  IdeaPhase,
  IdeaResearch,
  IdeaRisk,
  SignalKind,
} from './idea.ts';

const ofIdea = { ideaId: z.string() };
const stale = ['ideas', 'idea'] as const;
const lower = (text: string) => text.toLowerCase();
const short = (text: string) => (text.length > 120 ? `${text.slice(0, 120)}…` : text);

export const ideaEvents = [
  event(
    'idea.created',
    { ...ofIdea, idea: Idea, by: Actor },
    {
      stale,
      shown: 'terminal',
      says: ({ by, idea: { number, title, forkedFrom } }) =>
        said(by, `${forkedFrom ? `forked idea I${forkedFrom.number} as` : 'started idea'} I${number}: ${title}`),
    },
  ),
  event(
    'idea.said',
    { ...ofIdea, message: IdeaMessage },
    { stale, says: ({ message: { by, text } }) => said(by, `wrote about an idea: ${short(text)}`) },
  ),
  event(
    'idea.reply_requested',
    { ...ofIdea, jobId: z.string() },
    { stale, shown: 'log', says: () => mill('requested a reply about an idea') },
  ),
  /** An answer came while no reply could be requested. */
  event(
    'idea.reply_due',
    { ...ofIdea },
    { stale, shown: 'log', says: () => mill('noted that an idea needs another reply') },
  ),
  /** The agent of the reply knows the messages up to this one. */
  event(
    'idea.reply_begun',
    { ...ofIdea, jobId: z.string(), upTo: z.number().int() },
    { stale, shown: 'log', says: () => mill('began a reply about an idea') },
  ),
  event(
    'idea.replied',
    {
      ...ofIdea,
      jobId: z.string(),
      message: IdeaMessage,
      title: z.string().nullable(),
      /** New ones and changed ones. */
      artifacts: z.array(IdeaArtifact),
      decisions: z.array(IdeaDecision),
      risks: z.array(IdeaRisk),
      confidence: z.number(),
      complexity: z.number(),
      research: IdeaResearch.nullable(),
    },
    { stale, says: ({ message: { by, text } }) => said(by, `replied about an idea: ${short(text)}`) },
  ),
  event(
    'idea.reply_ended',
    { ...ofIdea, jobId: z.string(), end: z.enum(['asked', 'failed', 'cancelled']), why: z.string() },
    {
      stale,
      shown: ({ end }) => (end === 'failed' ? 'terminal' : 'page'),
      says: ({ end, why }) =>
        mill(end === 'asked' ? 'has questions before it can reply' : `gave no reply about an idea: ${why || end}`),
    },
  ),
  event(
    'idea.advanced',
    /** The brief of a complete idea, if the agent wrote none. */
    { ...ofIdea, from: IdeaPhase, to: IdeaPhase, brief: IdeaArtifact.nullable() },
    {
      stale,
      shown: 'terminal',
      says: ({ from, to }) =>
        mill(
          to === 'COMPLETE'
            ? 'an idea is complete: its brief is ready'
            : `an idea moved from ${lower(from)} to ${lower(to)}`,
        ),
    },
  ),
  event(
    'idea.corrected',
    {
      ...ofIdea,
      by: Actor,
      artifact: IdeaArtifact.nullable(),
      decision: IdeaDecision.nullable(),
      risk: IdeaRisk.nullable(),
      confidence: z.number().nullable(),
    },
    {
      stale,
      says: ({ by, artifact, decision, risk }) =>
        said(
          by,
          `corrected ${artifact?.type ?? (decision ? 'a decision' : risk ? 'a risk' : 'the confidence')} of an idea`,
        ),
    },
  ),
  event(
    'idea.signal_removed',
    { ...ofIdea, by: Actor, kind: SignalKind, key: z.string(), fingerprint: z.string() },
    { stale, says: ({ by, kind }) => said(by, `removed ${kind === 'artifact' ? 'an' : 'a'} ${kind} of an idea`) },
  ),
  event('idea.paused', { ...ofIdea, by: Actor }, { stale, says: ({ by }) => said(by, 'paused an idea') }),
  event('idea.resumed', { ...ofIdea, by: Actor }, { stale, says: ({ by }) => said(by, 'resumed an idea') }),
  event('idea.archived', { ...ofIdea, by: Actor }, { stale, says: ({ by }) => said(by, 'archived an idea') }),
  event(
    'idea.researched',
    { ...ofIdea, research: IdeaResearch, artifact: IdeaArtifact.nullable() },
    {
      stale,
      says: ({ research: { status, why } }) =>
        mill(status === 'done' ? 'searched for an idea' : `did not search for an idea${why ? `: ${why}` : ''}`),
    },
  ),
] as const;
