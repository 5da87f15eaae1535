import { LessonDraft, type Run } from '@tidemill/contract';
import type { EngineDeps } from '../deps.ts';
import { recordLesson } from './record-lesson.ts';
import { pathsIn } from './run-lessons.ts';

const MOST = 3;
const MOST_FILES = 10;

/**
 * Keeps what a builder found out, as experiments like every lesson of an agent: what instructs agents, weakens checks or names no
 * file is refused, and the figures decide about the rest.
 */
export async function keepDiscoveries(
  { store, ids, project }: Pick<EngineDeps, 'store' | 'ids' | 'project'>,
  run: Run,
  discoveries: readonly string[],
): Promise<void> {
  const by = { kind: 'agent' as const, id: run.workerId, name: run.agent };
  const origin = { traceIds: [], taskIds: [run.subjectId], runId: run.id, by };
  for (const [index, text] of discoveries.slice(0, MOST).entries()) {
    const filePatterns = [...new Set(pathsIn(text))].slice(0, MOST_FILES);
    const draft = LessonDraft.safeParse({ text, filePatterns });
    if (draft.success) await recordLesson({ store, ids, project }, draft.data, origin, `lesson_of_${run.id}_${index}`);
  }
}
