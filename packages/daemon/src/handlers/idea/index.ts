import type { Actor, Idea, IdeaDetail, IdeaSummary } from '@tidemill/contract';
import { type Command, ideaFiles, ideaFolder } from '@tidemill/core';
import { messagesOf } from '../../engine/ideas/conversation.ts';
import type { Services } from '../context.ts';
import { numbered, projectOf, unwrap } from '../find.ts';
import type { Handlers } from '../handler.ts';
import { openQuestionsAbout } from '../question/question.ts';

const SHOWN_MESSAGES = 100;

export const ideaHandlers: Handlers<'ideas'> = {
  async ideas(services, { project, all }) {
    const { id: projectId } = await projectOf(services, project);
    const found = await services.store.records({ noun: 'idea', projectId });
    const shown = found.filter(({ status }) => all || status !== 'archived');
    const open = await services.store.records({ noun: 'question', projectId, isOpen: true });
    const summaries = shown.map((idea) =>
      summaryOf(idea, open.filter(({ subjectId }) => subjectId === idea.id).length),
    );
    return summaries.sort((a, b) => b.changedAt - a.changedAt);
  },
  async createIdea(services, { project, text, title, by }) {
    const { id: projectId } = await projectOf(services, project);
    const ideaId = services.ids.next('idea');
    unwrap(
      await services.store.execute({ type: 'idea.create', projectId, ideaId, text, by, ...(title ? { title } : {}) }),
    );
    return detailOf(services, projectId, ideaId);
  },
  async idea(services, { project, idea, messages }) {
    const { id, projectId } = await ideaOf(services, project, idea);
    return detailOf(services, projectId, id, messages);
  },
  async ideaMessages(services, { project, idea, after, limit }) {
    const { id, messageCount } = await ideaOf(services, project, idea);
    return messagesOf(services.store, id, after + 1, Math.min(messageCount, after + limit));
  },
  sayToIdea: (services, { text, ...input }) => carryOut(services, input, (of) => ({ type: 'idea.say', ...of, text })),
  steerIdea: (services, { to, ...input }) =>
    carryOut(services, input, (of): Command => ({ type: `idea.${to}`, ...of })),
  async forkIdea(services, { project, idea, title, by }) {
    const { id: ideaId, projectId } = await ideaOf(services, project, idea);
    const forkId = services.ids.next('idea');
    const command = { type: 'idea.fork', projectId, ideaId, forkId, by, ...(title ? { title } : {}) } as const;
    unwrap(await services.store.execute(command));
    return detailOf(services, projectId, forkId);
  },
  correctIdea: (services, { correction, ...input }) =>
    carryOut(services, input, (of) => ({ type: 'idea.correct', ...of, correction })),
  removeSignal: (services, { kind, key, ...input }) =>
    carryOut(services, input, (of) => ({ type: 'idea.remove_signal', ...of, kind, key })),
  async ideaFiles(services, { project, idea }) {
    const found = await ideaOf(services, project, idea);
    return { folder: ideaFolder(found), files: ideaFiles(found) };
  },
};

type OfIdea = { projectId: string; ideaId: string; by: Actor };

/** Executes a command about an idea and returns the idea after it. */
async function carryOut(
  services: Services,
  { project, idea, by }: { project: string; idea: string; by: Actor },
  command: (of: OfIdea) => Command,
): Promise<IdeaDetail> {
  const { id: ideaId, projectId } = await ideaOf(services, project, idea);
  unwrap(await services.store.execute(command({ projectId, ideaId, by })));
  return detailOf(services, projectId, ideaId);
}

const ideaOf = async (services: Services, project: string, ref: string): Promise<Idea> =>
  numbered(services, await projectOf(services, project), 'idea', ref);

const summaryOf = (idea: Idea, questions: number): IdeaSummary => {
  const { id, number, title, slug, status, phase, confidence, messageCount, failure, changedAt } = idea;
  return {
    ...{ id, number, title, slug, status, phase, confidence, messageCount, failure, changedAt },
    isReplying: idea.jobId !== null,
    questions,
  };
};

async function detailOf(
  services: Services,
  projectId: string,
  ideaId: string,
  limit = SHOWN_MESSAGES,
): Promise<IdeaDetail> {
  const { store } = services;
  // Read first, so that a follower of the log from here on misses nothing.
  const lastSeq = await store.lastSeq();
  const project = await projectOf(services, projectId);
  const idea = (await store.record('idea', ideaId))!;
  const { messageCount, jobId } = idea;
  const job = jobId === null ? null : await store.record('job', jobId);
  return {
    idea,
    messages: await messagesOf(store, ideaId, Math.max(1, messageCount - limit + 1), messageCount),
    questions: await openQuestionsAbout(services, project, ideaId),
    runId: job?.lease ? job.lastRunId : null,
    isRunning: services.engines.of(project).isRunning,
    lastSeq,
  };
}
