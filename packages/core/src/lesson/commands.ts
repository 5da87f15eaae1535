import {
  type Actor,
  knowledgeId,
  type LessonChange,
  type LessonDraft,
  type LessonFault,
  type LessonOrigin,
  type LessonProof,
  type LessonStage,
  type LessonVerdict,
  lessonUseId,
  type Tally,
} from '@tidemill/contract';
import { type Lookup, look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { accept } from '../refusal.ts';
import { advanceLesson, demoteLesson, editLesson, promoteLesson, restoreLesson, retireLesson } from './lesson.ts';
import { confirmLesson, recordLesson } from './record.ts';
import { injectLessons, settleLessons } from './use.ts';

export interface LessonCommands {
  /** Records it, or confirms, supersedes or refuses what is alike. `control`: runs that it fits, from before. */
  'lesson.record': { lessonId: string; draft: LessonDraft; origin: LessonOrigin; control: Tally };
  /** Notes that a lesson of an agent was refused. */
  'lesson.refuse': { fault: LessonFault; why: string; by: Actor };
  'lesson.confirm': { lessonId: string; origin: LessonOrigin };
  'lesson.edit': { lessonId: string; change: LessonChange; by: Actor };
  'lesson.inject': { runId: string; taskId: string; files: string[]; lessonIds: string[]; heldBackIds: string[] };
  /** `lessonIds`: all of the run, given or held back. */
  'lesson.settle': { runId: string; taskId: string; lessonIds: string[]; verdict: LessonVerdict; why: string };
  /** Forward or back. Production needs the figures of a replay. */
  'lesson.advance': {
    lessonId: string;
    to: Exclude<LessonStage, 'retired'>;
    why: string;
    proof: LessonProof | null;
    by: Actor;
  };
  'lesson.promote': { lessonId: string; file: string; taskId: string; by: Actor };
  'lesson.demote': { lessonId: string; why: string; by: Actor };
  'lesson.retire': { lessonId: string; why: string; by: Actor };
  'lesson.restore': { lessonId: string; by: Actor };
}

const one = ({ lessonId }: { lessonId: string }): Lookup[] => [look('record', lessonId)];

export const lessonCommands: CommandParts<keyof LessonCommands> = {
  // The counters are locked first, so that two daemons never record the same lesson twice.
  'lesson.record': {
    scope: ({ projectId, lessonId }) => [
      look('record', knowledgeId(projectId)),
      look('record', lessonId),
      look('openRecords', projectId, 'lesson'),
    ],
    decide: recordLesson,
  },
  'lesson.refuse': {
    scope: ({ projectId }) => [look('record', knowledgeId(projectId))],
    decide: (_slice, { fault, why, by }) => accept({ type: 'lesson.refused', fault, why, by }),
  },
  'lesson.confirm': { scope: one, decide: confirmLesson },
  'lesson.edit': { scope: one, decide: editLesson },
  'lesson.inject': {
    // The project is locked first: the record of the run does not exist yet, so it cannot be locked itself.
    scope: ({ projectId, runId, lessonIds }) => [
      look('lockedProject', projectId),
      look('record', lessonUseId(runId)),
      ...lessonIds.map((id) => look('record', id)),
    ],
    decide: injectLessons,
  },
  'lesson.settle': {
    scope: ({ projectId, runId, lessonIds }) => [
      look('record', knowledgeId(projectId)),
      look('record', lessonUseId(runId)),
      ...lessonIds.map((id) => look('record', id)),
    ],
    decide: settleLessons,
  },
  'lesson.advance': { scope: one, decide: advanceLesson },
  'lesson.promote': { scope: one, decide: promoteLesson },
  'lesson.demote': { scope: one, decide: demoteLesson },
  'lesson.retire': { scope: one, decide: retireLesson },
  'lesson.restore': { scope: one, decide: restoreLesson },
};
