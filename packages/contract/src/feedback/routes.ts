import { z } from 'zod';
import { by, flag, get, note, post, project } from '../api/route.ts';
import { FeedbackItem, FeedbackText } from './feedback.ts';
import { FeedbackDetail } from './view.ts';

/** `3`, `F3`, or an id. */
const feedback = z.coerce.string<string | number>().trim().min(1).max(300);

export const feedbackRoutes = {
  feedbackList: get(
    '/v1/projects/:project/feedback',
    'Feedback, the newest 500 first; all of it, or only what is open',
    z.strictObject({ project, open: flag() }),
    z.array(FeedbackItem),
  ),
  feedback: get(
    '/v1/projects/:project/feedback/:feedback',
    'A piece of feedback, what was asked about it, and the task it became',
    z.strictObject({ project, feedback }),
    FeedbackDetail,
  ),
  giveFeedback: post(
    '/v1/projects/:project/feedback',
    'Gives feedback; an analyst files it as a bug, a feature, a change or a question',
    z.strictObject({ project, by, text: FeedbackText }),
    FeedbackItem,
    { decides: false },
  ),
  analyseFeedback: post(
    '/v1/projects/:project/feedback/:feedback/analyse',
    'Has feedback analysed that failed, or that nothing analyses automatically',
    z.strictObject({ project, feedback, by }),
    FeedbackItem,
    { decides: true },
  ),
  dismissFeedback: post(
    '/v1/projects/:project/feedback/:feedback/dismiss',
    'Dismisses feedback; nothing is made of it',
    z.strictObject({ project, feedback, by, why: note.default('') }),
    FeedbackItem,
    { decides: true },
  ),
};
