import { z } from 'zod';
import { by, count, flag, get, post, project } from '../api/route.ts';
import { PlainLine } from '../text/plain-text.ts';
import { IdeaCorrection, IdeaMessage, MAX_MESSAGE_LENGTH, MessageText, SignalKind } from './idea.ts';
import { IdeaDetail, IdeaFile, IdeaSummary } from './view.ts';

/** A number (`3`, `I3`) or an id (`idea_…`). */
const idea = z.coerce.string<string | number>().trim().min(1).max(100);
const ofIdea = { project, idea };
const title = PlainLine.max(200).optional();

export const ideaRoutes = {
  ideas: get(
    '/v1/projects/:project/ideas',
    'The ideas of a project, the last changed first',
    z.strictObject({ project, all: flag() }),
    z.array(IdeaSummary),
  ),
  createIdea: post(
    '/v1/projects/:project/ideas',
    'Starts a conversation about an idea',
    z.strictObject({ project, by, text: MessageText, title }),
    IdeaDetail,
    { decides: false },
  ),
  idea: get(
    '/v1/projects/:project/ideas/:idea',
    'An idea with its newest messages and open questions',
    z.strictObject({ ...ofIdea, messages: count().max(500).default(100) }),
    IdeaDetail,
  ),
  ideaMessages: get(
    '/v1/projects/:project/ideas/:idea/messages',
    'Messages of a conversation, the oldest first',
    z.strictObject({ ...ofIdea, after: count().default(0), limit: count().min(1).max(500).default(100) }),
    z.array(IdeaMessage),
    { page: { cursor: 'after', field: 'number' } },
  ),
  sayToIdea: post(
    '/v1/projects/:project/ideas/:idea/messages',
    `Writes a message of at most ${MAX_MESSAGE_LENGTH.toLocaleString('en-US')} characters; the agent replies`,
    z.strictObject({ ...ofIdea, by, text: MessageText }),
    IdeaDetail,
    { decides: false },
  ),
  steerIdea: post(
    '/v1/projects/:project/ideas/:idea/steer',
    'Pauses, resumes or archives an idea; resuming an active one tries a failed reply again',
    z.strictObject({ ...ofIdea, by, to: z.enum(['pause', 'resume', 'archive']) }),
    IdeaDetail,
    { decides: true },
  ),
  forkIdea: post(
    '/v1/projects/:project/ideas/:idea/fork',
    'Continues an idea as another one, with the same signals',
    z.strictObject({ ...ofIdea, by, title }),
    IdeaDetail,
    { decides: false },
  ),
  correctIdea: post(
    '/v1/projects/:project/ideas/:idea/signals',
    'Corrects or adds a signal; replies of the agent leave it as it is',
    z.strictObject({ ...ofIdea, by, correction: IdeaCorrection }),
    IdeaDetail,
    { decides: true },
  ),
  removeSignal: post(
    '/v1/projects/:project/ideas/:idea/signals/remove',
    'Removes a signal; replies of the agent do not bring it back',
    /** `key`: the type of an artifact, the id of a decision or a risk. */
    z.strictObject({ ...ofIdea, by, kind: SignalKind, key: z.string().max(200).default('') }),
    IdeaDetail,
    { decides: true },
  ),
  ideaFiles: get(
    '/v1/projects/:project/ideas/:idea/files',
    'The Markdown files of an idea, as they are kept',
    z.strictObject(ofIdea),
    z.object({ folder: z.string(), files: z.array(IdeaFile) }),
  ),
};
