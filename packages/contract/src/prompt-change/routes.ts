import { z } from 'zod';
import { by, count, get, note, post, project } from '../api/route.ts';
import { PromptChangeView, PromptFile, ProposedText } from './prompt-change.ts';

/** `3`, `P3`, or its id. */
const change = z.coerce.string<string | number>().min(1).max(100);

const answered = {
  options: { why: '<reason> the reason' },
  says: ({ ref, status }: PromptChangeView) => `${ref} is ${status.replaceAll('_', ' ')}.`,
};

export const promptChangeRoutes = {
  promptChanges: get(
    '/v1/projects/:project/prompt-changes',
    'Proposed texts of prompts and categories, newest first, with what replays showed',
    z.strictObject({ project, limit: count().min(1).max(1000).default(50) }),
    z.array(PromptChangeView),
    {
      cli: {
        usage: 'prompts list',
        isDefault: true,
        about: 'list them, newest first',
        details: 'Proposed texts of prompts and categories, and what replays showed; `tidemill prompts` does the same',
      },
    },
  ),
  proposePrompt: post(
    '/v1/projects/:project/prompt-changes',
    'Proposes a text for a prompt or a category; a replay on recorded tasks tries it where one can',
    z.strictObject({ project, by, file: PromptFile, text: ProposedText, why: note.default('') }),
    PromptChangeView,
    { decides: false },
  ),
  decidePrompt: post(
    '/v1/projects/:project/prompt-changes/:change/decide',
    'Applies a proposed text, refuses it, or rolls an applied one back',
    z.strictObject({ project, change, by, decision: z.enum(['apply', 'refuse', 'roll_back']), why: note.default('') }),
    PromptChangeView,
    {
      decides: true,
      cli: [
        {
          usage: 'prompts apply <change>',
          about: 'write the text into its file',
          sets: { decision: 'apply' },
          ...answered,
        },
        { usage: 'prompts refuse <change>', about: 'refuse it', sets: { decision: 'refuse' }, ...answered },
        {
          usage: 'prompts rollback <change>',
          about: 'bring back the text from before',
          sets: { decision: 'roll_back' },
          ...answered,
        },
      ],
    },
  ),
};
