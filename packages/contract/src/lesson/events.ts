import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { counted, event, mill, ofTask, said, spaced } from '../event/define.ts';
import { LessonDraft, LessonFault, LessonOrigin, LessonProof, LessonStage, LessonVerdict, Tally } from './lesson.ts';

const stale = ['lessons', 'lesson', 'memory'] as const;
const ofLesson = { lessonId: z.string(), number: z.number().int() };
const confidence = z.number().min(0).max(1);

export const lessonEvents = [
  event(
    'lesson.recorded',
    {
      ...ofLesson,
      draft: LessonDraft,
      confidence,
      stage: LessonStage,
      occurrences: z.number().int(),
      origin: LessonOrigin,
      control: Tally,
    },
    { stale, says: ({ number, draft, origin }) => said(origin.by, `recorded lesson L${number}: ${draft.text}`) },
  ),
  /** The same was seen in other work. */
  event(
    'lesson.confirmed',
    {
      ...ofLesson,
      confidence,
      occurrences: z.number().int(),
      origin: LessonOrigin,
      filePatterns: z.array(z.string()),
    },
    {
      stale,
      says: ({ number, occurrences, origin }) =>
        said(origin.by, `confirmed lesson L${number}, seen ${counted(occurrences, 'time')}`),
    },
  ),
  event(
    'lesson.superseded',
    { ...ofLesson, byId: z.string(), byNumber: z.number().int() },
    { stale, says: ({ number, byNumber }) => mill(`lesson L${byNumber} takes the place of L${number}`) },
  ),
  /** Somebody tried to record the opposite. */
  event(
    'lesson.contradicted',
    { ...ofLesson, text: z.string(), by: Actor },
    { stale, says: ({ number, text, by }) => said(by, `contradicted lesson L${number}: ${text}`) },
  ),
  /** Without its text: it may be harmful, or a secret. */
  event(
    'lesson.refused',
    { fault: LessonFault, why: z.string(), by: Actor },
    { stale, says: ({ why, by }) => said(by, `wanted to record a lesson; refused: ${why}`) },
  ),
  event(
    'lesson.edited',
    {
      ...ofLesson,
      draft: LessonDraft,
      version: z.number().int(),
      /** Its text changed, so that its figures are about something else and begin again. */
      beginsAgain: z.boolean(),
      by: Actor,
    },
    { stale, says: ({ number, by, version }) => said(by, `edited lesson L${number}, now version ${version}`) },
  ),
  event(
    'lesson.injected',
    {
      ...ofTask,
      runId: z.string(),
      files: z.array(z.string()),
      lessonIds: z.array(z.string()),
      heldBackIds: z.array(z.string()),
      /** `L7`, as people know them. */
      names: z.array(z.string()),
    },
    {
      stale,
      leavesSummary: true,
      shown: 'log',
      says: ({ names }) =>
        mill(names.length > 0 ? `gave the agent lessons ${names.join(', ')}` : 'gave the agent no lessons'),
    },
  ),
  event(
    'lesson.settled',
    {
      ...ofTask,
      runId: z.string(),
      verdict: LessonVerdict,
      why: z.string(),
      /** The confidence of each lesson afterwards, where it changed. */
      confidences: z.record(z.string(), confidence),
    },
    {
      stale,
      leavesSummary: true,
      shown: 'log',
      says: ({ verdict, why }) => mill(`the lessons of the run ${VERDICTS[verdict]}: ${why}`),
    },
  ),
  event(
    'lesson.advanced',
    { ...ofLesson, from: LessonStage, to: LessonStage, why: z.string(), proof: LessonProof.nullable(), by: Actor },
    {
      stale,
      shown: 'terminal',
      says: ({ number, from, to, why, by }) =>
        said(by, `moved lesson L${number} from ${spaced(from)} to ${spaced(to)}: ${why}`),
    },
  ),
  event(
    'lesson.promoted',
    { ...ofLesson, file: z.string(), taskId: z.string(), by: Actor },
    { stale, shown: 'terminal', says: ({ number, file, by }) => said(by, `puts lesson L${number} into ${file}`) },
  ),
  event(
    'lesson.demoted',
    { ...ofLesson, file: z.string(), why: z.string(), by: Actor },
    {
      stale,
      shown: 'terminal',
      says: ({ number, file, why, by }) => said(by, `takes lesson L${number} out of ${file}: ${why}`),
    },
  ),
  event(
    'lesson.retired',
    { ...ofLesson, why: z.string(), by: Actor },
    { stale, shown: 'terminal', says: ({ number, why, by }) => said(by, `retired lesson L${number}: ${why}`) },
  ),
  event(
    'lesson.restored',
    { ...ofLesson, confidence, by: Actor },
    { stale, says: ({ number, by }) => said(by, `restored lesson L${number}; its figures begin again`) },
  ),
] as const;

const VERDICTS: Record<LessonVerdict, string> = {
  helped: 'count as helpful',
  hurt: 'count as not helpful',
  neither: 'are not counted',
};
