import {
  AGENT_TRACE_TYPES,
  LEVEL_TOKENS,
  TraceLevel,
  TraceSource,
  TraceType,
  type TraceView,
} from '@tidemill/contract';
import { z } from 'zod';
import { shown, told } from '../reply.ts';
import { ADDERS, AGENTS, READERS } from '../roles.ts';
import { tool } from '../tool.ts';

const EVERYBODY = [...READERS, ...AGENTS];

export const queryTracesTool = tool(
  'query_traces',
  'What happened here before: corrections, violations, decisions, failures, questions. Begin with level metadata (about 500 tokens), then summary (1K); get_trace has the rest',
  {
    roles: EVERYBODY,
    input: {
      words: z.string().max(1000).optional(),
      type: TraceType.optional(),
      source: TraceSource.optional(),
      task: z.coerce.number<number>().int().positive().optional(),
      level: TraceLevel.default('metadata'),
      limit: z.number().int().min(1).max(100).default(20),
      cursor: z.string().max(100).optional(),
    },
  },
  async ({ session, signal }, { projectRoot, level, ...query }) => {
    const project = (await session.projectOf(projectRoot)).id;
    const page = await session.api.traces({ project, level, tokens: LEVEL_TOKENS[level], ...defined(query) }, signal);
    if (page.traces.length === 0) return told('No trace fits.');
    const more = page.cursor === null ? '' : ` More with cursor ${page.cursor}.`;
    return shown(`${page.traces.length} traces.${more}`, page.traces.map(traceText).join('\n'));
  },
);

export const getTraceTool = tool(
  'get_trace',
  'One trace: metadata about 500, summary about 1K, full about 2K tokens at most',
  { roles: EVERYBODY, input: { id: z.string().max(200), level: TraceLevel.default('full') } },
  async ({ session, signal }, { projectRoot, id, level }) => {
    const project = (await session.projectOf(projectRoot)).id;
    return shown('One trace.', traceText(await session.api.trace({ project, trace: id, level }, signal)));
  },
);

const WRITERS = [...ADDERS, 'builder', 'analyst'] as const;

export const storeTraceTool = tool(
  'store_trace',
  'Records what others can learn from: what happened, what would have been right, why',
  {
    roles: WRITERS,
    changesFor: WRITERS,
    input: {
      type: TraceType,
      what: z.string().min(1).max(4000),
      correct: z.string().max(2000).optional(),
      why: z.string().max(2000).optional(),
      files: z.array(z.string().max(500)).max(50).default([]),
      task: z.coerce.number<number>().int().positive().optional(),
      key: z.string().min(1).max(100).optional().describe('A short name of what repeats'),
    },
    inputFor(role, { key, task, ...input }) {
      const own = { ...input, type: z.enum(AGENT_TRACE_TYPES) };
      return AGENTS.includes(role) ? own : { ...own, task, key };
    },
  },
  async ({ session, signal }, { projectRoot, ...trace }) => {
    const project = (await session.projectOf(projectRoot)).id;
    const { id, type } = await session.api.storeTrace({ project, by: session.by, ...trace }, signal);
    return told(`Stored as ${type} ${id}.`);
  },
);

/** One line for what exists, then what it says. */
function traceText({ id, type, source, at, task, agent, what, why, correct, files, key }: TraceView): string {
  const where = [source, task !== null && `#${task}`, agent].filter(Boolean).join(' ');
  return [
    `${id} ${type} ${new Date(at).toISOString().slice(0, 16)}Z ${where}${what === undefined ? '' : `: ${what}`}`,
    ...(correct ? [`  right: ${correct}`] : []),
    ...(why ? [`  why: ${why}`] : []),
    ...(files && files.length > 0 ? [`  files: ${files.join(', ')}`] : []),
    ...(key ? [`  repeats as: ${key}`] : []),
  ].join('\n');
}

/** Without what was left out: a route's query has no empty values. */
function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
