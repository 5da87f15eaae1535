import { ENGINE, PATTERN_AT, type Pattern, type Trace } from '@tidemill/contract';
import { caseOf, mayBeLesson, type RepeatedCase, repeatedLesson } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import { changedFiles } from './changed-files.ts';
import { recordLesson } from './record-lesson.ts';
import { questionOf } from './run-lessons.ts';

const LOOKED_AT_TRACES = 50;
/** More cases show nothing new, and each is looked up. */
const MOST_CASES = 10;

type Sources = Pick<EngineDeps, 'store' | 'ids' | 'project' | 'workspace' | 'hash' | 'onNote'>;

/** The lesson of a pattern has this id, so that a repetition changes nothing. */
const lessonIdOf = ({ project, hash }: Sources, key: string, print: string) =>
  `lesson_of_pattern_${hash(`${project.id}\n${key}\n${print}`).slice(0, 24)}`;

/** Makes an experiment of what happened in three runs, tasks or sessions. Its figures decide what becomes of it. */
export async function learnLesson(deps: Sources, pattern: Pattern): Promise<void> {
  const { store, project, hash, onNote } = deps;
  if (pattern.count < PATTERN_AT || !mayBeLesson(pattern)) return;
  const tags = [`key:${pattern.key}`];
  const found = await store.searchRecords({ noun: 'trace', projectId: project.id, tags, limit: LOOKED_AT_TRACES });
  const oldestFirst = found.map(({ record }) => record).toSorted((a, b) => a.at - b.at);
  // The newest of each case.
  const traces = [...new Map(oldestFirst.map((trace) => [caseOf(trace), trace])).values()];
  if (traces.length < PATTERN_AT) return;
  const cases = await Promise.all(
    traces
      .toSorted((a, b) => b.at - a.at)
      .slice(0, MOST_CASES)
      .map((trace) => caseFor(deps, trace)),
  );
  const learned = repeatedLesson(cases, hash);
  if (!learned) return;
  const lessonId = lessonIdOf(deps, pattern.key, learned.print);
  if (await store.record('lesson', lessonId)) return;
  const origin = {
    traceIds: learned.cases.map(({ trace }) => trace.id),
    taskIds: [...new Set(learned.cases.flatMap(({ trace: { subjectId } }) => subjectId ?? []))],
    runId: null,
    by: ENGINE,
  };
  const recorded = await recordLesson(deps, learned.draft, origin, lessonId);
  if (recorded.kind === 'refused') onNote(`no lesson from what happened 3 times: ${recorded.refusal.message}`);
}

async function caseFor(deps: Sources, trace: Trace): Promise<RepeatedCase> {
  const task = trace.taskNumber === null || trace.subjectId === null ? null : await deps.store.task(trace.subjectId);
  return {
    trace,
    files: task ? await changedFiles(deps.workspace, task) : [],
    asked: task ? questionOf(task) : null,
  };
}
