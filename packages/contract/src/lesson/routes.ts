import { z } from 'zod';
import { by, count, flag, get, note, post, project, words } from '../api/route.ts';
import { SpecAction } from '../spec/draft.ts';
import { INSTRUCTION_FILES, LessonChange, LessonDraft, LessonKind, LessonStage } from './lesson.ts';
import { KnowledgeAnswer, LessonDetail, LessonView, MemorySummary, PromotedLesson } from './view.ts';

/** `7`, `L7` or its id. */
const lesson = z.coerce.string<string | number>().min(1).max(100);
const ofLesson = { project, lesson };

export const lessonRoutes = {
  lessons: get(
    '/v1/projects/:project/lessons',
    'What was learned: lessons with their figures, the most certain first',
    z.strictObject({
      project,
      stage: LessonStage.optional(),
      kind: LessonKind.optional(),
      /** Only those that contain all of these words. */
      words: z.string().max(500).optional(),
      /** Only those that were not handed out for 90 days. */
      unused: flag(),
      /** Retired and superseded ones too. */
      all: flag(),
      limit: count().min(1).max(1000).default(100),
    }),
    z.array(LessonView),
    {
      cli: {
        usage: 'memory list [words...]',
        isDefault: true,
        about: 'list lessons, the most certain first',
        details:
          'What Tidemill has [learned](memory.md), the most certain first; `tidemill memory` does the same. Words filter',
        options: {
          words: 'only lessons with all of these words',
          stage: '<stage> only lessons in this stage',
          kind: '<kind> only lessons of this kind',
          unused: 'only lessons that were not handed out for 90 days',
          all: 'retired and superseded ones too',
        },
        sets: { limit: 1000 },
      },
    },
  ),
  lesson: get(
    '/v1/projects/:project/lessons/:lesson',
    'A lesson, where it comes from and where it was used',
    z.strictObject(ofLesson),
    LessonDetail,
    { cli: { usage: 'memory show <lesson>', about: 'show a lesson, where it comes from and where it was used' } },
  ),
  addLesson: post(
    '/v1/projects/:project/lessons',
    'Records a lesson; one that says the same is confirmed instead',
    LessonDraft.extend({ project, by }),
    LessonDetail,
    {
      decides: false,
      cli: {
        usage: 'memory add <text>',
        about: 'record a lesson; one that says the same is confirmed instead',
        options: {
          why: '<reason> what happens otherwise',
          filePatterns: '--file <glob> files it is about; may be repeated',
          topics: '--topic <topic> a topic it is about; may be repeated',
          action: '<action> what happens to the files',
          kind: '<kind> what it is',
          scope: '--all-projects=all it is useful in other repositories too',
        },
        examples: ['tidemill memory add "Regenerate the client after a change of the schema" --file "schema/**"'],
        says: ({ number, occurrences }) =>
          occurrences > 1 ? `L${number} says the same, and is confirmed.` : `Lesson L${number} is recorded.`,
      },
    },
  ),
  editLesson: post(
    '/v1/projects/:project/lessons/:lesson/edit',
    'Changes a lesson; with another text its figures begin again',
    z.strictObject({ ...ofLesson, by, ...LessonChange.shape }),
    LessonDetail,
    {
      decides: true,
      cli: {
        usage: 'memory edit <lesson>',
        about: 'change a lesson; with another text its figures begin again',
        options: {
          text: '<text> its new text',
          why: '<reason> what happens otherwise',
          filePatterns: '--file <glob> files it is about; may be repeated',
          topics: '--topic <topic> a topic it is about; may be repeated',
          action: '<action> what happens to the files',
        },
        says: ({ number, version }) => `Lesson L${number} is now version ${version}.`,
      },
    },
  ),
  retireLesson: post(
    '/v1/projects/:project/lessons/:lesson/retire',
    'Retires a lesson: no run is given it any more',
    z.strictObject({ ...ofLesson, by, why: note.min(1, 'says why').max(500) }),
    LessonDetail,
    {
      decides: true,
      cli: {
        usage: 'memory retire <lesson>',
        about: 'retire a lesson: no run is given it any more',
        options: { why: '<reason> the reason' },
        says: ({ number }) => `Lesson L${number} is retired.`,
      },
    },
  ),
  restoreLesson: post(
    '/v1/projects/:project/lessons/:lesson/restore',
    'Brings a retired lesson back as an experiment',
    z.strictObject({ ...ofLesson, by }),
    LessonDetail,
    {
      decides: true,
      cli: {
        usage: 'memory restore <lesson>',
        about: 'bring a retired lesson back as an experiment',
        says: ({ number }) => `Lesson L${number} is an experiment again.`,
      },
    },
  ),
  promoteLesson: post(
    '/v1/projects/:project/lessons/:lesson/promote',
    'Adds a lesson in production to AGENTS.md or CLAUDE.md, by a task with its diff',
    z.strictObject({ ...ofLesson, by, file: z.enum(INSTRUCTION_FILES).default('AGENTS.md') }),
    PromotedLesson,
    {
      decides: true,
      cli: {
        usage: 'memory promote <lesson>',
        about: 'add a lesson in production to AGENTS.md, by a task with its diff',
        options: { file: '<file> which file, AGENTS.md or CLAUDE.md' },
        says: ({ task, lesson: number, file }) => `#${task.number} adds L${number} to ${file}.`,
      },
    },
  ),
  knowledgeFor: get(
    '/v1/projects/:project/knowledge',
    'What is known about some files, an action or topics: at most 5 lessons within a token budget',
    z.strictObject({
      project,
      files: words(),
      action: SpecAction.optional(),
      topics: words(),
      /** What the work is about, in words. */
      about: z.string().max(2_000).optional(),
      limit: count().min(1).max(5).default(5),
      tokens: count().min(50).max(10_000).default(1_000),
    }),
    KnowledgeAnswer,
    {
      cli: {
        usage: 'memory for [files...]',
        about: 'show what an agent would be told about some files',
        options: {
          files: 'paths or globs',
          action: '<action> what happens to the files',
          topics: '--topic <topic> a topic; may be repeated',
        },
      },
    },
  ),
  memorySummary: get(
    '/v1/projects/:project/memory',
    'What was learned in a week, in figures',
    z.strictObject({
      project,
      /** The end of the week; now when it is left out. */
      until: count().optional(),
    }),
    MemorySummary,
    { cli: { usage: 'memory summary', about: 'show what was learned within the last 7 days' } },
  ),
};
