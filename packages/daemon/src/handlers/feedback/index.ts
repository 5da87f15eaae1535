import type { FeedbackDetail, FeedbackItem, RouteRequest } from '@tidemill/contract';
import type { Services } from '../context.ts';
import { numbered, projectOf, unwrap } from '../find.ts';
import type { Handlers, Signed } from '../handler.ts';
import { ranked } from '../question/question.ts';

export const feedbackHandlers: Handlers<'feedback'> = {
  feedbackList: listFeedback,
  feedback: showFeedback,
  giveFeedback,
  analyseFeedback,
  dismissFeedback,
};

/** The newest; more would make the page slow. */
const MOST = 500;

async function listFeedback(services: Services, input: RouteRequest<'feedbackList'>): Promise<FeedbackItem[]> {
  const { id: projectId } = await projectOf(services, input.project);
  const all = await services.store.records({ noun: 'feedback', projectId, ...(input.open ? { isOpen: true } : {}) });
  return all.sort((a, b) => b.number - a.number).slice(0, MOST);
}

async function showFeedback(services: Services, input: RouteRequest<'feedback'>): Promise<FeedbackDetail> {
  const project = await projectOf(services, input.project);
  const feedback = await numbered(services, project, 'feedback', input.feedback);
  const { taskNumber } = feedback;
  const task = taskNumber === null ? null : await services.store.taskByNumber(project.id, taskNumber);
  return {
    feedback,
    questions: await ranked(services.store, project, { parent: feedback.id }),
    task: task && { number: task.number, title: task.title, stage: task.stage },
  };
}

async function giveFeedback(services: Services, input: Signed<'giveFeedback'>): Promise<FeedbackItem> {
  const { id: projectId } = await projectOf(services, input.project);
  const feedbackId = services.ids.next('feedback');
  const { text, by } = input;
  unwrap(await services.store.execute({ type: 'feedback.give', projectId, feedbackId, text, by }));
  return (await services.store.record('feedback', feedbackId))!;
}

async function analyseFeedback(services: Services, input: Signed<'analyseFeedback'>): Promise<FeedbackItem> {
  const project = await projectOf(services, input.project);
  const { id: feedbackId } = await numbered(services, project, 'feedback', input.feedback);
  const { by } = input;
  unwrap(await services.store.execute({ type: 'feedback.analyse', projectId: project.id, feedbackId, by }));
  return (await services.store.record('feedback', feedbackId))!;
}

/** Its analysis stops too. */
async function dismissFeedback(services: Services, input: Signed<'dismissFeedback'>): Promise<FeedbackItem> {
  const { store } = services;
  const project = await projectOf(services, input.project);
  const { id: feedbackId, jobId } = await numbered(services, project, 'feedback', input.feedback);
  const { by, why } = input;
  const about = { projectId: project.id };
  unwrap(await store.execute({ type: 'feedback.dismiss', ...about, feedbackId, by, why }));
  const job = jobId === null ? null : await store.record('job', jobId);
  if (job?.status === 'open')
    await store.execute({
      type: 'job.cancel',
      ...about,
      jobId: job.id,
      subjectId: feedbackId,
      why: 'the feedback was dismissed',
    });
  return (await store.record('feedback', feedbackId))!;
}
