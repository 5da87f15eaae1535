import {
  isActiveLesson,
  knowledgeId,
  LEAST_CONFIDENCE,
  type Lesson,
  type LessonDetail,
  type LessonUseView,
  type LessonView,
  type Tally,
} from '@tidemill/contract';
import { baseRateOf, boundsOf, ratedRuns } from '@tidemill/core';
import { isUnused } from '../../engine/learning/summary.ts';
import type { Store } from '../../ports.ts';
import type { Services } from '../context.ts';

const MOST_USES = 50;

/** In use, and not handed out for 90 days. */
export const isIdle = (lesson: Lesson, now: number): boolean => isActiveLesson(lesson) && isUnused(lesson, now);

/** The measured runs of a project. */
export async function runsOf(store: Store, projectId: string): Promise<Tally> {
  return (await store.record('knowledge', knowledgeId(projectId)))?.runs ?? { good: 0, total: 0 };
}

export function viewOf({ noun: _noun, ...lesson }: Lesson, runs: Tally, now: number): LessonView {
  const rated = ratedRuns(lesson);
  const whole = { noun: _noun, ...lesson };
  return {
    ...lesson,
    rate: rated.total === 0 ? null : { share: rated.good / rated.total, ...boundsOf(rated) },
    baseRate: baseRateOf(lesson, runs),
    isUnused: isIdle(whole, now),
    state: stateOf(whole, now),
  };
}

function stateOf(lesson: Lesson, now: number): string {
  const { stage, confidence, supersededBy, retiredWhy, promoted } = lesson;
  if (stage === 'retired') return `retired: ${retiredWhy}`;
  if (supersededBy !== null) return 'superseded by another one';
  if (confidence < LEAST_CONFIDENCE) return 'not given to runs: its confidence is below 0.6';
  if (promoted) return `in ${promoted.file}`;
  if (isIdle(lesson, now)) return 'not used for 90 days';
  return {
    experiment: 'an experiment: given to most runs that it fits, and measured',
    validated: 'given to runs that it fits; no replay has proven it',
    production: 'given to runs that it fits; a replay has shown a gain',
  }[stage];
}

export async function detailOf({ store, clock }: Services, lesson: Lesson): Promise<LessonDetail> {
  const { projectId, id } = lesson;
  const uses = (await store.records({ noun: 'lesson_use', projectId }))
    .filter(({ lessonIds, heldBackIds }) => lessonIds.includes(id) || heldBackIds.includes(id))
    .sort((a, b) => b.at - a.at)
    .slice(0, MOST_USES);
  const ids = [...new Set([...uses.map(({ taskId }) => taskId), ...lesson.origin.taskIds])];
  const tasks = new Map((ids.length > 0 ? await store.tasks({ projectId, ids }) : []).map((task) => [task.id, task]));
  const others = await store.records({ noun: 'lesson', projectId, isOpen: false });
  return {
    ...viewOf(lesson, await runsOf(store, projectId), clock.now()),
    uses: uses.map(
      ({ runId, taskId, verdict, why, at, heldBackIds }): LessonUseView => ({
        runId,
        taskId,
        verdict,
        why,
        at,
        taskNumber: tasks.get(taskId)?.number ?? null,
        taskTitle: tasks.get(taskId)?.title ?? '',
        isHeldBack: heldBackIds.includes(id),
      }),
    ),
    tasks: lesson.origin.taskIds.flatMap((taskId) => {
      const task = tasks.get(taskId);
      return task ? [{ number: task.number, title: task.title }] : [];
    }),
    supersedes: others.filter(({ supersededBy }) => supersededBy === id).map(({ number }) => `L${number}`),
  };
}
