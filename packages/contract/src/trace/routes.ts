import { z } from 'zod';
import { by, count, get, post, project, task } from '../api/route.ts';
import { PlainLine, PlainText } from '../text/plain-text.ts';
import { PATTERN_AT, TraceSource, TraceType } from './trace.ts';
import { PatternView, TraceLevel, TracePage, TraceView } from './view.ts';

const text = (most: number) => PlainText.trim().max(most, `has at most ${most} characters`);

export const traceRoutes = {
  traces: get(
    '/v1/projects/:project/traces',
    'What happened that can be learned from: the best matches of the words, or the newest',
    z.strictObject({
      project,
      words: z.string().trim().max(1_000).optional(),
      type: TraceType.optional(),
      source: TraceSource.optional(),
      task: task.optional(),
      run: z.string().min(1).max(200).optional(),
      /** Only traces of the same occurrence. */
      key: z.string().min(1).max(200).optional(),
      level: TraceLevel.default('summary'),
      limit: count().min(1).max(200).default(20),
      /** Ends the page before it has more tokens than this. */
      tokens: count().min(100).max(100_000).optional(),
      cursor: z.string().max(100).optional(),
    }),
    TracePage,
  ),
  trace: get(
    '/v1/projects/:project/traces/:trace',
    'One trace',
    z.strictObject({ project, trace: z.string().min(1).max(200), level: TraceLevel.default('full') }),
    TraceView,
  ),
  storeTrace: post(
    '/v1/projects/:project/traces',
    'Records a correction, a decision or a note',
    z.strictObject({
      project,
      by,
      type: TraceType,
      what: text(4_000).min(1, 'says what happened'),
      correct: text(2_000).optional(),
      why: text(2_000).optional(),
      task: task.optional(),
      files: z.array(PlainLine.min(1).max(500)).max(50, 'has at most 50 files').default([]),
      /** A short name of what repeats, so that it is counted. */
      key: PlainLine.min(1).max(100).optional(),
    }),
    TraceView,
    { decides: false },
  ),
  patterns: get(
    '/v1/projects/:project/patterns',
    'What happened again and again, the most frequent first',
    z.strictObject({
      project,
      type: TraceType.optional(),
      least: count().min(2).max(1000).default(PATTERN_AT),
      limit: count().min(1).max(200).default(20),
    }),
    z.array(PatternView),
    {
      mcp: {
        tool: 'extract_patterns',
        about: 'What happened again and again, with its count, an example, and whether it asks for a guard or a lesson',
        for: 'everybody',
        says: (found) =>
          found.length === 0
            ? { head: 'Nothing happened often enough to be a pattern.' }
            : { head: `${found.length} patterns, the most frequent first.`, data: found.map(patternText).join('\n') },
      },
    },
  ),
};

function patternText({ key, count: times, runs, suggests, lesson, example, traceIds }: PatternView): string {
  const advice = lesson ? `, lesson ${lesson}` : suggests === 'nothing' ? '' : `, suggests a ${suggests}`;
  return `${times}× in ${runs} runs${advice}: ${key}\n  ${example.slice(0, 240)}\n  traces ${traceIds.slice(-3).join(', ')}`;
}
