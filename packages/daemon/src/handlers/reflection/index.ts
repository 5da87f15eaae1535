import { lessonName, type ReflectionView, type RouteRequest } from '@tidemill/contract';
import type { Services } from '../context.ts';
import { projectOf } from '../find.ts';
import type { Handlers } from '../handler.ts';

export const reflectionHandlers: Handlers<'reflections'> = { reflections: listReflections };

async function listReflections(services: Services, input: RouteRequest<'reflections'>): Promise<ReflectionView[]> {
  const { id: projectId } = await projectOf(services, input.project);
  const all = await services.store.records({ noun: 'reflection', projectId });
  const newest = all.sort((a, b) => b.createdAt - a.createdAt).slice(0, input.limit);
  return Promise.all(
    newest.map(async ({ noun: _, facts: __, ...reflection }) => {
      const lesson = reflection.lessonId ? await services.store.record('lesson', reflection.lessonId) : null;
      return { ...reflection, lesson: lesson && lessonName(lesson) };
    }),
  );
}
