import {
  type Actor,
  type Answer,
  ENGINE,
  type EventBody,
  type Idea,
  type IdeaMessage,
  type IdeaPhase,
  type IdeaReply,
  ideaMessageId,
  type Job,
  type Question,
} from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { type JobEnd, requestedJob } from '../subject/part.ts';
import { holding, openQuestions, withdrawnQuestion } from '../subject/questions.ts';
import { briefOf } from './brief.ts';
import { phaseAfter } from './phase.ts';
import { changesBy, withChanges } from './signals.ts';

/**
 *   said ─▶ reply requested ─▶ begun: the agent knows all messages so far ─▶ replied ─┬─▶ nothing new: it waits
 *                    ▲                                       │                        └─▶ more was said: requested again
 *                    └── a person answers, or resumes ◀─ asked, failed
 */
export function askForReply(idea: Pick<Idea, 'id'>, by: Actor, env: DecideEnv): EventBody[] {
  const job = requestedJob(env, { subjectId: idea.id, mode: 'ideate', input: '', by });
  return [{ type: 'idea.reply_requested', ideaId: idea.id, jobId: job.jobId }, job];
}

/** From here on, new messages wait for the next reply. */
export function beginReply(slice: Slice, command: CommandOf<'idea.begin_reply'>): Decision {
  const idea = slice.record('idea', command.ideaId);
  if (idea?.projectId !== command.projectId) return refuse('not_found', `there is no idea ${command.ideaId}`);
  if (idea.jobId !== command.jobId) return refuse('conflict', `job ${command.jobId} does not write the next reply`);
  return accept({ type: 'idea.reply_begun', ideaId: idea.id, jobId: command.jobId, upTo: idea.messageCount });
}

/** What follows from the end of the job that writes a reply. */
export function replyEnded(slice: Slice, idea: Idea, job: Job, end: JobEnd, env: DecideEnv): EventBody[] {
  if (idea.jobId !== job.id) return [];
  const reply = end.status === 'done' ? end.envelope.ideation : undefined;
  if (!reply) {
    const why = 'why' in end ? end.why : end.envelope.summary;
    const how = end.status === 'done' ? 'failed' : end.status;
    return [{ type: 'idea.reply_ended', ideaId: idea.id, jobId: job.id, end: how, why }];
  }
  const agent = slice.runs.ifLoaded(job.lastRunId ?? '')?.agent ?? job.mode;
  const replied = repliedBy(idea, job, reply, agent, env);
  const after: Idea = { ...withChanges(idea, replied), title: replied.title ?? idea.title };
  const mayGoOn = idea.status === 'active';
  const asks = end.status === 'done' && end.envelope.open_questions?.some(({ type }) => type === 'blocking');
  const next = mayGoOn && !asks && !isHeld(slice, idea.id) ? phaseAfter(idea.phase, after) : null;
  // A message that no reply knows keeps the conversation open.
  const isLast = next === 'COMPLETE' && !idea.hasNews;
  return [
    replied,
    ...(next && (next !== 'COMPLETE' || isLast) ? [advanced(after, next, env), ...overtaken(slice, idea, next)] : []),
    ...(mayGoOn && idea.hasNews ? askForReply(idea, ENGINE, env) : []),
  ];
}

/**
 * Questions that the idea has overtaken: about earlier phases, and all about a complete one, which takes no answer. A search
 * is begun or skipped by its own question.
 */
function overtaken(slice: Slice, { id }: Idea, next: IdeaPhase): EventBody[] {
  const isOver = (question: Question) =>
    next === 'COMPLETE' ? !isAbout(question, 'before_research') : isAbout(question, 'phase_complete');
  const why = next === 'COMPLETE' ? 'the idea is complete' : 'the idea went on';
  return openQuestions(slice, id)
    .filter((question) => question.status === 'open' && isOver(question))
    .map((question) => withdrawnQuestion(question, why));
}

/** A blocking question keeps an idea in its phase. */
const isHeld = (slice: Slice, ideaId: string): boolean => holding(slice, ideaId, '').length > 0;

function advanced(idea: Idea, to: Idea['phase'], env: DecideEnv): EventBody {
  const hasBrief = idea.artifacts.some(({ type }) => type === 'brief');
  const brief = to === 'COMPLETE' && !hasBrief ? briefOf(idea, env.now) : null;
  return { type: 'idea.advanced', ideaId: idea.id, from: idea.phase, to, brief };
}

function repliedBy(idea: Idea, job: Job, reply: IdeaReply, agent: string, env: DecideEnv) {
  const { id: ideaId, projectId, phase } = idea;
  const number = idea.messageCount + 1;
  const message: IdeaMessage = {
    noun: 'message',
    id: ideaMessageId(ideaId, number),
    projectId,
    ideaId,
    number,
    role: 'agent',
    by: { kind: 'agent', id: agent, name: agent },
    text: reply.reply,
    phase,
    runId: job.lastRunId,
    at: env.now,
  };
  const areas = [...new Set(reply.wantsResearch)];
  const isSearching = idea.research?.status === 'wanted';
  return {
    type: 'idea.replied',
    ideaId,
    jobId: job.id,
    message,
    title: reply.title || null,
    ...changesBy(idea, reply, env),
    complexity: reply.complexity,
    research: areas.length > 0 && !isSearching ? { areas, status: 'wanted', why: '', at: env.now } : null,
  } satisfies EventBody;
}

/** The last blocking question about the idea was answered: the agent goes on with the answer. */
export function replyAfterAnswers(idea: Idea, env: DecideEnv): EventBody[] {
  if (idea.status === 'archived' || idea.status === 'complete') return [];
  return idea.status === 'active' && idea.jobId === null
    ? askForReply(idea, ENGINE, env)
    : [{ type: 'idea.reply_due', ideaId: idea.id }];
}

/** The answer to a completed phase that pauses the idea. */
const FOR_LATER = 'Keep it for later';
const isAbout = ({ sourceId }: Question, trigger: string) => sourceId.split('/')[0] === trigger;

/** A person answered a question that did not hold the idea: the agent replies to it, as to a message. */
export function replyToAnswer(idea: Idea, question: Question, { by, option }: Answer, env: DecideEnv): EventBody[] {
  // The search follows its own answer, and the agent gets what was found.
  if (by.kind === 'engine' || isAbout(question, 'before_research')) return [];
  if (option !== FOR_LATER || !isAbout(question, 'phase_complete')) return replyAfterAnswers(idea, env);
  return idea.status === 'active' ? [{ type: 'idea.paused', ideaId: idea.id, by }] : [];
}
