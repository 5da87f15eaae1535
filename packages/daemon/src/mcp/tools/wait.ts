import { setTimeout as delay } from 'node:timers/promises';
import { AppError, type TaskDetail } from '@tidemill/contract';
import { type ToolReply, told } from '../reply.ts';
import type { McpCall } from '../tool.ts';
import { isOver, outcomeOf, taskIdOf, waitingTask } from '../waiting.ts';

/** Shorter than the minute after which clients give up a call. */
const MAX_WAIT_MS = 45_000;
const LOOK_MS = 1000;

/**
 * Long work: a client that knows MCP tasks gets one and polls it. For others the call lasts until something happens, or
 * says that it should be repeated.
 */
export async function waitForTask(call: McpCall, project: string, number: number): Promise<ToolReply> {
  const { session, signal, client } = call;
  const look = () => session.api.task({ project, task: number }, signal);
  const until = performance.now() + MAX_WAIT_MS;
  let found = await look();
  if (client.knowsTasks && !isOver(found)) {
    const made = waitingTask(taskIdOf(project, number), found);
    return { ...made, resultType: 'task', content: [] } as ToolReply;
  }
  const stage = found.task.stage;
  for (let looks = 1; !isSettled(found) && found.task.stage === stage; looks += 1) {
    if (performance.now() > until) break;
    await sayProgress(call, looks, found);
    await delay(LOOK_MS, undefined, { signal }).catch(() => {
      throw new AppError('conflict', 'the call was cancelled; the task goes on');
    });
    found = await look();
  }
  if (isSettled(found)) return outcomeOf(found);
  return told(`#${number} is in stage ${found.task.stage}. Call wait again for the end.`);
}

const isSettled = (found: TaskDetail) => isOver(found) || found.task.openQuestions.length > 0;

async function sayProgress({ context }: McpCall, progress: number, { task }: TaskDetail): Promise<void> {
  const { progressToken } = context.mcpReq._meta ?? {};
  if (progressToken === undefined) return;
  const params = { progressToken, progress, message: `#${task.number} is in stage ${task.stage}` };
  await context.mcpReq.notify({ method: 'notifications/progress', params });
}
