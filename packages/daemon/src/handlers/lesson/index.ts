import {
  AppError,
  type KnowledgeAnswer,
  type Lesson,
  type LessonDetail,
  LessonDraft,
  type LessonView,
  type RouteRequest,
} from '@tidemill/contract';
import { knowledgeFor } from '../../engine/learning/known-lessons.ts';
import { recordLesson } from '../../engine/learning/record-lesson.ts';
import type { Services } from '../context.ts';
import { projectOf, unwrap } from '../find.ts';
import type { Handlers, Signed } from '../handler.ts';
import { lessonOf } from './find.ts';
import { promote } from './promote.ts';
import { showSummary } from './summary.ts';
import { detailOf, isIdle, runsOf, viewOf } from './view.ts';

export const lessonHandlers: Handlers<'memory'> = {
  lessons: listLessons,
  lesson: showLesson,
  addLesson,
  editLesson,
  retireLesson,
  restoreLesson,
  promoteLesson: promote,
  knowledgeFor: showKnowledge,
  memorySummary: showSummary,
};

async function listLessons(services: Services, input: RouteRequest<'lessons'>): Promise<LessonView[]> {
  const { id: projectId } = await projectOf(services, input.project);
  const { stage, kind, words, unused, all, limit } = input;
  const { store, clock } = services;
  const isClosedToo = all || stage === 'retired';
  const found = await store.records({ noun: 'lesson', projectId, ...(isClosedToo ? {} : { isOpen: true }) });
  const parts = (words ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  const runs = await runsOf(store, projectId);
  return found
    .filter((lesson) => stage === undefined || lesson.stage === stage)
    .filter((lesson) => kind === undefined || lesson.kind === kind)
    .filter((lesson) => parts.every((part) => textOf(lesson).includes(part)))
    .filter((lesson) => !unused || isIdle(lesson, clock.now()))
    .sort((a, b) => b.confidence - a.confidence || b.number - a.number)
    .slice(0, limit)
    .map((lesson) => viewOf(lesson, runs, clock.now()));
}

const textOf = ({ text, why, topics, filePatterns }: Lesson) =>
  [text, why, ...topics, ...filePatterns].join('\n').toLowerCase();

async function showLesson(services: Services, input: RouteRequest<'lesson'>): Promise<LessonDetail> {
  const project = await projectOf(services, input.project);
  return detailOf(services, await lessonOf(services, project, input.lesson));
}

async function addLesson(services: Services, input: Signed<'addLesson'>): Promise<LessonDetail> {
  const project = await projectOf(services, input.project);
  const { store, ids } = services;
  const { project: _project, by, ...fields } = input;
  const origin = { traceIds: [], taskIds: [], runId: null, by };
  const result = await recordLesson({ store, ids, project }, LessonDraft.parse(fields), origin);
  if (result.kind !== 'refused') return detailOf(services, result.lesson);
  const { code, message, hint } = result.refusal;
  throw new AppError(code, message, { hint });
}

async function editLesson(services: Services, input: Signed<'editLesson'>): Promise<LessonDetail> {
  const { project, lesson, by, ...change } = input;
  return changed(services, project, lesson, (about) => ({ type: 'lesson.edit', ...about, change, by }));
}

async function retireLesson(services: Services, input: Signed<'retireLesson'>): Promise<LessonDetail> {
  const { project, lesson, by, why } = input;
  return changed(services, project, lesson, (about) => ({ type: 'lesson.retire', ...about, why, by }));
}

async function restoreLesson(services: Services, input: Signed<'restoreLesson'>): Promise<LessonDetail> {
  const { project, lesson, by } = input;
  return changed(services, project, lesson, (about) => ({ type: 'lesson.restore', ...about, by }));
}

type Execute = Services['store']['execute'];

async function changed(
  services: Services,
  projectId: string,
  name: string,
  command: (about: { projectId: string; lessonId: string }) => Parameters<Execute>[0],
): Promise<LessonDetail> {
  const project = await projectOf(services, projectId);
  const lesson = await lessonOf(services, project, name);
  unwrap(await services.store.execute(command({ projectId: project.id, lessonId: lesson.id })));
  return detailOf(services, (await services.store.record('lesson', lesson.id))!);
}

async function showKnowledge(services: Services, input: RouteRequest<'knowledgeFor'>): Promise<KnowledgeAnswer> {
  const project = await projectOf(services, input.project);
  const { files = [], action = null, topics = [], about = '', limit, tokens } = input;
  const knowledge = services.repositories.knowledgeOf(project);
  const asked = { files, action, words: [...topics, about].join(' ') };
  return knowledgeFor({ store: services.store, project, knowledge }, asked, { tokens, limit });
}
