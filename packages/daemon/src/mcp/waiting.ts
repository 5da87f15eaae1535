import {
  type CallToolResult,
  inputRequired,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { AppError, type QuestionView, type TaskDetail } from '@tidemill/contract';
import { z } from 'zod';
import { answerGiven, formOf } from './question-form.ts';
import { shown } from './reply.ts';
import type { Session } from './session.ts';
import { taskText } from './tools/task-text.ts';

/**
 * A Tidemill task as an MCP task (extension io.modelcontextprotocol/tasks). Nothing is kept here: the id names the task,
 * and the caller's rights are checked with every request.
 *
 *   working ─▶ input_required (an open question) ─▶ working ─▶ completed: done, or blocked as an error
 *                                                          └─▶ cancelled
 */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

const POLL_MS = 5000;

export const taskIdOf = (project: string, number: number) => `${project}:${number}`;

function readTaskId(id: string): { project: string; task: number } {
  const [, project, number] = /^(.{1,200}):(\d{1,15})$/.exec(id) ?? [];
  if (project === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no task ${id}`);
  return { project, task: Number(number) };
}

export const isOver = ({ task }: TaskDetail) =>
  task.stage === 'done' || task.stage === 'cancelled' || task.blocked !== null;

export function waitingTask(taskId: string, { task, questions }: TaskDetail) {
  const open = openQuestions(questions);
  return {
    taskId,
    status: open.length > 0 ? ('input_required' as const) : ('working' as const),
    statusMessage: `#${task.number} is in stage ${task.stage}`,
    createdAt: new Date(task.createdAt).toISOString(),
    lastUpdatedAt: new Date(task.stageSince).toISOString(),
    ttlMs: null,
    pollIntervalMs: POLL_MS,
  };
}

/** The end of the work as a tool's result. */
export function outcomeOf(found: TaskDetail): CallToolResult {
  const { task } = found;
  const open = task.openQuestions.length;
  const head = task.blocked
    ? `#${task.number} is blocked: a person must help.`
    : open > 0
      ? `#${task.number} waits for ${open} answers. The tool questions lists them.`
      : `#${task.number} is ${task.stage}.`;
  return { ...shown(head, taskText(found)), ...(task.blocked ? { isError: true } : {}) };
}

const openQuestions = (questions: QuestionView[]) =>
  questions.filter(({ status, holds }) => status === 'open' && holds);

const ById = z.object({ taskId: z.string().max(300) });

/** The methods of the extension. */
export function serveTasks(server: McpServer, session: Session): void {
  const look = (id: string, signal: AbortSignal) => orNotFound(() => session.api.task(readTaskId(id), signal));
  server.server.setRequestHandler('tasks/get', { params: ById }, async ({ taskId }, { mcpReq: { signal } }) => {
    const found = await look(taskId, signal);
    const base = waitingTask(taskId, found);
    if (found.task.stage === 'cancelled') return { ...base, status: 'cancelled' };
    if (isOver(found)) return { ...base, status: 'completed', result: outcomeOf(found) };
    if (base.status === 'working') return base;
    const asked = openQuestions(found.questions).map((question) => [
      question.ref,
      inputRequired.elicit(formOf(question)),
    ]);
    return { ...base, inputRequests: Object.fromEntries(asked) };
  });
  server.server.setRequestHandler('tasks/update', { params: ById }, async ({ taskId }, { mcpReq }) => {
    const { person } = session;
    if (!person)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'A person answers. They use: tidemill questions');
    const { project, questions } = { ...readTaskId(taskId), ...(await look(taskId, mcpReq.signal)) };
    for (const question of openQuestions(questions)) {
      const given = answerGiven(question, mcpReq.inputResponses?.[question.ref]);
      if (given === null) continue;
      await orNotFound(() =>
        person.answerQuestion({ project, question: question.id, by: session.by, ...given }, mcpReq.signal),
      );
    }
    return {};
  });
  // A client cancels when its person loses patience. The task may be somebody else's, so it goes on.
  server.server.setRequestHandler('tasks/cancel', { params: ById }, async ({ taskId }, { mcpReq: { signal } }) => {
    await look(taskId, signal);
    return {};
  });
}

async function orNotFound<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, [error.message, error.hint].filter(Boolean).join(' '));
  }
}
