import { LessonKind, SpecAction } from '@tidemill/contract';
import { z } from 'zod';
import { shown, told } from '../reply.ts';
import { ADDERS, AGENTS, READERS } from '../roles.ts';
import { tool } from '../tool.ts';

const asking = {
  files: z.array(z.string().max(500)).max(50).default([]).describe('Files you work on, or globs of a new lesson'),
  action: SpecAction.optional(),
  topics: z.array(z.string().max(40)).max(10).default([]),
  about: z.string().max(2000).optional().describe('The work, in words'),
};
const adding = {
  lesson: z.string().min(1).max(600).optional().describe('Records this instead of asking'),
  why: z.string().max(600).optional(),
  kind: LessonKind.optional(),
};

export const knowledgeTool = tool(
  'knowledge',
  (role) =>
    `What is known about files, an action or topics: at most 5 short lessons within 1K tokens${ADDERS.includes(role) ? '. With lesson: records one' : ''}`,
  {
    roles: [...READERS, ...AGENTS],
    changesFor: ADDERS,
    input: { ...asking, ...adding },
    inputFor: (role, input) => (ADDERS.includes(role) ? input : asking),
  },
  async ({ session, signal }, { projectRoot, files, action, topics, about, lesson, why = '', kind = 'gotcha' }) => {
    const project = (await session.projectOf(projectRoot)).id;
    if (lesson !== undefined) {
      const made = await session.api.addLesson(
        { project, by: session.by, kind, text: lesson, why, filePatterns: files, action: action ?? null, topics },
        signal,
      );
      return told(`L${made.number}: ${made.state}`);
    }
    const found = await session.api.knowledgeFor(
      { project, files, topics, ...(action && { action }), ...(about && { about }) },
      signal,
    );
    if (found.lessons.length === 0) return told('Nothing is known about that.');
    const lines = found.lessons.map(
      ({ ref, kind: what, text, why: reason, confidence }) =>
        `${ref} ${what} ${confidence.toFixed(2)}: ${text}${reason === '' ? '' : `\n  why: ${reason}`}`,
    );
    const more = found.more > 0 ? ` ${found.more} more fit; ask more precisely.` : '';
    return shown(`${found.lessons.length} lessons.${more}`, lines.join('\n'));
  },
);
