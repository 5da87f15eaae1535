import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { recordKind } from '../record/kind.ts';
import { PlainText } from '../text/plain-text.ts';
import { withoutSecrets } from '../text/secrets.ts';

/**
 * correction: somebody changed or rejected what was done. violation: a rule was broken, or would have been. failure: a
 * gate or a run failed. decision, approval, note, question: as they say.
 */
export const TraceType = z.enum(['correction', 'violation', 'decision', 'approval', 'failure', 'note', 'question']);
export type TraceType = z.infer<typeof TraceType>;
/** What an agent can know itself. Corrections and approvals are people's, and guards find violations. */
export const AGENT_TRACE_TYPES = ['decision', 'failure', 'note'] as const satisfies TraceType[];

/** Where it was noticed. `hook`: in a person's own session. `git`: in a commit that Tidemill did not make. */
export const TraceSource = z.enum(['guard', 'gate', 'review', 'person', 'agent', 'hook', 'git', 'engine']);
export type TraceSource = z.infer<typeof TraceSource>;

const LONGEST_TEXT = 4_000;
const LONGEST_REASON = 2_000;
const LONGEST_KEY = 200;
const MOST_FILES = 50;

/** Text from agents and tools: plain, without secrets, and cut. */
const quoted = (most: number) =>
  PlainText.overwrite((text) => {
    const safe = withoutSecrets(text).trim();
    return safe.length > most ? `${safe.slice(0, most - 1).toWellFormed()}…` : safe;
  });

/** Something that happened and can be learned from. It has facts only, nobody's opinion, and it never changes. */
export const Trace = z.object({
  noun: z.literal('trace'),
  id: z.string(),
  projectId: z.string(),
  type: TraceType,
  source: TraceSource,
  /** What it is about: a task, an idea, a specification. */
  subjectId: z.string().nullable(),
  runId: z.string().nullable(),
  taskNumber: z.number().int().nullable(),
  /** The agent or worker that was at work. */
  agent: z.string().nullable(),
  files: z.array(z.string()),
  /** Equal for the same occurrence at another time: `guard:NAME:TOOL`, `gate:NAME`. */
  key: z.string(),
  what: z.string(),
  /** What would have been right. */
  correct: z.string().nullable(),
  why: z.string().nullable(),
  at: z.number(),
  by: Actor,
  /** The event of the log that it comes from. */
  seq: z.number().int().nullable(),
});
export type Trace = z.infer<typeof Trace>;

/** What a trace says, as its author gives it: made plain, without secrets, and cut to its limits. */
export const TraceDraft = Trace.pick({ type: true, source: true }).extend({
  subjectId: z.string().max(200).nullable().default(null),
  runId: z.string().max(200).nullable().default(null),
  taskNumber: z.number().int().nullable().default(null),
  agent: quoted(200).nullable().default(null),
  files: z
    .array(quoted(500))
    .transform((files) => files.slice(0, MOST_FILES))
    .default([]),
  key: quoted(LONGEST_KEY),
  what: quoted(LONGEST_TEXT),
  correct: quoted(LONGEST_REASON).nullable().default(null),
  why: quoted(LONGEST_REASON).nullable().default(null),
});
export type TraceDraft = z.infer<typeof TraceDraft>;

export const traceKind = recordKind(Trace, ({ projectId }) => ({ parent: projectId, isOpen: false, dueAt: null }), {
  text: ({ what, correct, why, key, agent, files, taskNumber }) =>
    [what, correct, why, key, agent, ...files, taskNumber].filter((part) => part !== null).join('\n'),
  tags: traceTags,
});

/** The values that traces can be filtered by. */
export function traceTags(trace: Partial<Trace>): string[] {
  const { type, source, taskNumber, runId, key, seq, by } = trace;
  return [
    ...(type ? [`type:${type}`] : []),
    ...(source ? [`source:${source}`] : []),
    ...(taskNumber == null ? [] : [`task:${taskNumber}`]),
    ...(runId == null ? [] : [`run:${runId}`]),
    ...(key ? [`key:${key}`] : []),
    ...(seq == null ? [] : ['of:log']),
    ...(by && seq === null ? [`by:${by.kind}:${by.id}`] : []),
  ];
}

/** How often the same thing must happen before it is a pattern. */
export const PATTERN_AT = 3;
/** More traces of the same thing in one run say nothing new. */
export const MOST_PER_RUN = 10;

/** How often the same thing happened: a count of the traces with one key. */
export const Pattern = z.object({
  noun: z.literal('pattern'),
  id: z.string(),
  projectId: z.string(),
  key: z.string(),
  type: TraceType,
  source: TraceSource,
  count: z.number().int(),
  /** In how many runs; a trace without a run counts as one. */
  runs: z.number().int(),
  /** The newest traces, the newest last. */
  traceIds: z.array(z.string()),
  /** What the newest one says. */
  example: z.string(),
  firstAt: z.number(),
  lastAt: z.number(),
  /** The run of the newest trace, and how many of that run are counted. */
  lastRun: z.object({ runId: z.string(), count: z.number().int() }).nullable(),
});
export type Pattern = z.infer<typeof Pattern>;

export const patternKind = recordKind(Pattern, ({ projectId, count }) => ({
  parent: projectId,
  isOpen: count >= PATTERN_AT,
  dueAt: null,
}));
