import { AppError, Outcome, Priority, TaskKind, type TaskSummary } from '@tidemill/contract';
import { z } from 'zod';
import { asData, shown, type ToolReply, told } from '../reply.ts';
import { ADDERS, AGENTS, type McpRole, READERS, WORKERS } from '../roles.ts';
import { type McpCall, tool } from '../tool.ts';
import { taskLine, taskText } from './task-text.ts';
import { waitForTask } from './wait.ts';

const EVERYBODY = [...READERS, ...AGENTS];

/** Who may use which operation. The daemon checks it again. */
const OPERATIONS = {
  list: EVERYBODY,
  ready: EVERYBODY,
  show: EVERYBODY,
  wait: READERS,
  create: ADDERS,
  comment: ADDERS,
  claim: WORKERS,
  beat: WORKERS,
  finish: WORKERS,
  release: WORKERS,
} as const satisfies Record<string, readonly McpRole[]>;
type Operation = keyof typeof OPERATIONS;

const operationsOf = (role: McpRole) =>
  (Object.keys(OPERATIONS) as Operation[]).filter((name) => (OPERATIONS[name] as readonly McpRole[]).includes(role));

const read = {
  op: z.enum(Object.keys(OPERATIONS) as [Operation, ...Operation[]]),
  task: z.coerce.number<number>().int().positive().optional().describe('Its number'),
  words: z.string().max(300).optional().describe('list: words of the title'),
  stage: z.string().max(100).optional().describe('list: default all unfinished'),
  limit: z.number().int().min(1).max(100).default(20),
  cursor: z.string().max(100).optional(),
};
const write = {
  title: z.string().max(300).optional(),
  text: z.string().max(20_000).optional().describe('Description, comment, summary or reason'),
  accept: z.array(z.string().max(2000)).max(50).optional().describe('Acceptance criteria'),
  files: z.array(z.string().max(1000)).max(100).optional(),
  after: z.array(z.number().int().positive()).max(100).optional(),
  kind: TaskKind.optional(),
  priority: Priority.optional().describe('0 is the most urgent'),
  wait: z.boolean().optional().describe('create: wait until it is done'),
};
const work = {
  worker: z.string().max(50).optional().describe('claim: your name'),
  fence: z.number().int().nonnegative().optional().describe('From claim'),
  outcome: Outcome.optional().describe('finish'),
};

type Input = z.output<z.ZodObject<typeof read & typeof write & typeof work>> & { projectRoot?: string | undefined };

export const tasksTool = tool(
  'tasks',
  (role) =>
    [
      'Tasks of the project: list, what is ready, show one',
      ...(ADDERS.includes(role) ? ['create, comment, wait for the end'] : []),
      ...(WORKERS.includes(role) ? ['as an outside worker: claim, beat, finish, release'] : []),
    ].join('; '),
  {
    roles: EVERYBODY,
    changesFor: [...ADDERS, ...WORKERS],
    input: { ...read, ...write, ...work },
    inputFor: (role, all) => ({
      ...read,
      op: z.enum(operationsOf(role)),
      ...(ADDERS.includes(role) || WORKERS.includes(role) ? { text: all.text } : {}),
      ...(ADDERS.includes(role) ? write : {}),
      ...(WORKERS.includes(role) ? work : {}),
    }),
  },
  async (call, input) => {
    const project = (await call.session.projectOf(input.projectRoot)).id;
    return HANDLERS[input.op](call, project, input);
  },
);

type Handle = (call: McpCall, project: string, input: Input) => Promise<ToolReply>;

const HANDLERS: Record<Operation, Handle> = {
  list: (call, project, input) => list(call, project, input, () => true),
  ready: (call, project, input) => list(call, project, input, isReady),
  async show({ session, signal }, project, input) {
    const found = await session.api.task({ project, task: needed(input, 'task') }, signal);
    return shown(`Task #${found.task.number}.`, taskText(found));
  },
  wait: (call, project, input) => waitForTask(call, project, needed(input, 'task')),
  async create(call, project, input) {
    const { text = '', accept = [], files = [], after = [], kind, priority } = input;
    const made = await call.session.api.addTask(
      {
        project,
        title: needed(input, 'title'),
        body: text,
        accept,
        files,
        after,
        ...(kind && { kind }),
        ...(priority !== undefined && { priority }),
      },
      call.signal,
    );
    return input.wait
      ? waitForTask(call, project, made.number)
      : told(`Task #${made.number} is created, in stage ${made.stage}.`);
  },
  async comment({ session, signal }, project, input) {
    const task = needed(input, 'task');
    await session.api.noteTask({ project, task, by: session.by, text: needed(input, 'text') }, signal);
    return told(`The comment is on task #${task}. Its next run reads it.`);
  },
  async claim({ session, signal }, project, input) {
    const claim = await session.api.claimWork({ project, worker: needed(input, 'worker') }, signal);
    if (!claim) return told('Nothing is ready to be claimed.');
    const head = [
      `Claimed #${claim.number} for ${claim.mode}, fence ${claim.fence}. Work only in ${claim.worktree}.`,
      'Call beat at least every 90 s, then finish with an outcome, or release.',
    ].join('\n');
    return told(`${head}\n${asData(claim.prompt)}`);
  },
  async beat({ session, signal }, project, input) {
    const { text } = input;
    const claim = { project, task: needed(input, 'task'), fence: needed(input, 'fence') };
    const { expiresAt } = await session.api.beatClaim({ ...claim, ...(text && { text: text.slice(0, 300) }) }, signal);
    return told(`The claim holds until ${new Date(expiresAt).toISOString()}.`);
  },
  async finish({ session, signal }, project, input) {
    const claim = { project, task: needed(input, 'task'), fence: needed(input, 'fence') };
    const result = { outcome: needed(input, 'outcome'), summary: input.text ?? '' };
    const task = await session.api.finishClaim({ ...claim, result }, signal);
    return told(`#${task.number} is in stage ${task.stage}. Tidemill checks the work itself.`);
  },
  async release({ session, signal }, project, input) {
    const claim = { project, task: needed(input, 'task'), fence: needed(input, 'fence') };
    const task = await session.api.releaseClaim(
      { ...claim, ...(input.text && { why: input.text.slice(0, 1000) }) },
      signal,
    );
    return told(`#${task.number} is released. Its worktree is kept.`);
  },
};

/** An agent could take it now. */
const isReady = ({ unmet, worker, blocked, openQuestions, waiting, stage }: TaskSummary) =>
  unmet === 0 && !worker && !blocked && openQuestions.length === 0 && !waiting && !ENDED.has(stage);
const ENDED = new Set(['done', 'cancelled', 'blocked', 'needs_info']);
const CLOSED = new Set(['done', 'cancelled']);

async function list(
  { session, signal }: McpCall,
  project: string,
  input: Input,
  fits: (task: TaskSummary) => boolean,
): Promise<ToolReply> {
  const { words, stage, limit, cursor } = input;
  const found: TaskSummary[] = [];
  let afterNumber = cursorOf(cursor);
  let hasMore = true;
  while (hasMore && found.length < limit) {
    const page = await session.api.tasks(
      { project, afterNumber, limit: 500, ...(words && { search: words }), ...(stage && { stages: [stage] }) },
      signal,
    );
    hasMore = page.length === 500;
    for (const task of page) {
      if (found.length === limit) {
        hasMore = true;
        break;
      }
      afterNumber = task.number;
      if ((stage !== undefined || !CLOSED.has(task.stage)) && fits(task)) found.push(task);
    }
  }
  if (found.length === 0) return told('No task fits.');
  const more = hasMore ? ` More with cursor ${afterNumber}.` : '';
  return shown(`${found.length} tasks: number, stage, priority, title.${more}`, found.map(taskLine).join('\n'));
}

function cursorOf(text: string | undefined): number {
  if (text === undefined) return 0;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new AppError('bad_input', `"${text}" is not a cursor of this list`, {
    hint: 'Use the cursor of an earlier answer.',
  });
}

function needed<K extends keyof Input>(input: Input, name: K): NonNullable<Input[K]> {
  const value = input[name];
  if (value !== undefined && value !== null) return value as NonNullable<Input[K]>;
  throw new AppError('bad_input', `${input.op} needs ${name}`, { hint: 'Call it again with that.' });
}
