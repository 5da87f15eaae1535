import {
  AGENT_TRACE_TYPES,
  AppError,
  lessonName,
  type Pattern,
  type PatternView,
  type RouteRequest,
  type TracePage,
  type TraceView,
  traceTags,
} from '@tidemill/contract';
import { caseOf, suggestionOf } from '@tidemill/core';
import { countRead } from '../../engine/learning/near-traces.ts';
import type { Call, Services } from '../context.ts';
import { projectOf, taskOf } from '../find.ts';
import type { Handlers, Signed } from '../handler.ts';
import { recordOwnTrace } from './own.ts';
import { fitting, viewAlone, viewTrace } from './view.ts';

export const traceHandlers: Handlers<'traces'> = { traces: listTraces, trace: showTrace, storeTrace, patterns };

/** With words, pages go no further: anyone who looks that far needs other words. */
const MOST_RANKED = 500;

async function listTraces(
  services: Services,
  input: RouteRequest<'traces'>,
  _signal: AbortSignal,
  { caller }: Call,
): Promise<TracePage> {
  const project = await projectOf(services, input.project);
  const { words, type, source, run, key, level, limit, cursor } = input;
  const taskNumber = input.task === undefined ? null : (await taskOf(services, project, input.task)).number;
  const tags = traceTags({ type, source, taskNumber, runId: run ?? null, key, seq: null });
  const asked = { noun: 'trace', projectId: project.id, tags } as const;
  const from = cursor === undefined ? undefined : positionOf(cursor, words);
  const isSearch = words !== undefined && words !== '';
  const found = isSearch
    ? (await services.store.searchRecords({ ...asked, words, limit: MOST_RANKED })).slice(from ?? 0)
    : await services.store.searchRecords({
        ...asked,
        limit: limit + 1,
        ...(from === undefined ? {} : { before: from }),
      });
  const views = found
    .slice(0, limit)
    .map(({ record, score }) => viewTrace(record, level, isSearch ? score : undefined));
  const { kept, tokens } = fitting(views, input.tokens);
  if (caller.run)
    await countRead(
      { store: services.store, project },
      kept.map(({ id }) => id),
      caller.run.runId,
    );
  const isEnd = kept.length === found.length;
  const next = isSearch ? `o${(from ?? 0) + kept.length}` : `p${found[kept.length - 1]?.place}`;
  return { traces: kept, cursor: isEnd ? null : next, tokens };
}

/** `o20`: behind the 20th match of a search. `p4711`: before that place in the list of all. */
function positionOf(cursor: string, words: string | undefined): number {
  const digits = (words ? /^o(\d{1,15})$/ : /^p(\d{1,15})$/).exec(cursor)?.[1];
  if (digits !== undefined) return Number(digits);
  throw new AppError('bad_input', `"${cursor}" is not a cursor of this list`, {
    hint: 'Use the cursor of the page before, with the same words.',
  });
}

async function showTrace(
  services: Services,
  input: RouteRequest<'trace'>,
  _signal: AbortSignal,
  { caller }: Call,
): Promise<TraceView> {
  const project = await projectOf(services, input.project);
  const trace = await services.store.record('trace', input.trace);
  if (trace?.projectId === project.id) {
    if (caller.run) await countRead({ store: services.store, project }, [trace.id], caller.run.runId);
    return viewAlone(trace, input.level);
  }
  throw new AppError('not_found', `there is no trace ${input.trace}`, { hint: '`tidemill traces` lists them.' });
}

async function storeTrace(
  services: Services,
  input: Signed<'storeTrace'>,
  _signal: AbortSignal,
  { caller }: Call,
): Promise<TraceView> {
  if (input.by.kind === 'agent' && !(AGENT_TRACE_TYPES as readonly string[]).includes(input.type))
    throw new AppError('forbidden', `an agent does not record a trace of type ${input.type}`, {
      hint: `Corrections and approvals are people's. Use one of: ${AGENT_TRACE_TYPES.join(', ')}.`,
    });
  const project = await projectOf(services, input.project);
  const task = input.task === undefined ? null : await taskOf(services, project, input.task);
  const { type, what, correct = null, why = null, files, key, by } = input;
  const trace = await recordOwnTrace(services, project, {
    type,
    what,
    correct,
    why,
    files,
    key,
    task,
    by,
    runId: caller.run?.runId ?? null,
  });
  return viewAlone(trace, 'full');
}

async function patterns(services: Services, input: RouteRequest<'patterns'>): Promise<PatternView[]> {
  const { store } = services;
  const { id: projectId } = await projectOf(services, input.project);
  const all = await store.records({ noun: 'pattern', projectId });
  const shown = all
    .filter(({ count, type }) => count >= input.least && (input.type === undefined || type === input.type))
    .sort((a, b) => b.count - a.count || b.lastAt - a.lastAt)
    .slice(0, input.limit);
  const lessons = await lessonsByKey(services, projectId);
  return Promise.all(
    shown.map(async ({ noun: _noun, projectId: _project, lastRun: _run, ...pattern }) => ({
      ...pattern,
      runs: await casesOf(services, projectId, pattern),
      suggests: suggestionOf(pattern),
      lesson: lessons.get(pattern.key) ?? null,
    })),
  );
}

/** The row counts a run again when another one came between, so the traces themselves are counted where they are few. */
async function casesOf(
  { store }: Services,
  projectId: string,
  { key, count, runs }: Pick<Pattern, 'key' | 'count' | 'runs'>,
) {
  if (count > MOST_RANKED) return runs;
  const found = await store.searchRecords({ noun: 'trace', projectId, tags: [`key:${key}`], limit: MOST_RANKED });
  return found.length === 0 ? runs : new Set(found.map(({ record }) => caseOf(record))).size;
}

/** Lessons that repeated traces became. */
async function lessonsByKey({ store }: Services, projectId: string): Promise<Map<string, string>> {
  const active = await store.records({ noun: 'lesson', projectId, isOpen: true });
  const named = active.map(async (lesson) => {
    const [traceId] = lesson.origin.traceIds;
    const trace = lesson.origin.by.kind === 'engine' && traceId ? await store.record('trace', traceId) : null;
    return trace ? [[trace.key, lessonName(lesson)] as const] : [];
  });
  return new Map((await Promise.all(named)).flat());
}
