import type { ProgressReport, TodoItem } from '@tidemill/contract';
import { z } from 'zod';
import type { Block, ClaudeMessage } from './messages.ts';
import { callLine } from './transcript.ts';

/** Claude Code's tool for the result: the end of the work, not a part of it. */
const RESULT_TOOL = 'StructuredOutput';
/** Its own to-do list. Older versions write the list as a whole, newer ones keep a task per step. */
export const TODO_TOOLS = ['TodoWrite', 'TaskCreate', 'TaskUpdate', 'TaskList', 'TaskGet'];

const STATUS = { pending: 'pending', in_progress: 'active', completed: 'done' } as const;
const Status = z.enum(['pending', 'in_progress', 'completed', 'deleted']);

const TodoWrite = z.object({
  todos: z.array(z.object({ content: z.string(), status: Status.catch('pending') })),
});
const TaskCreate = z.object({ subject: z.string() });
const TaskUpdate = z.object({ taskId: z.coerce.string(), status: Status.optional(), subject: z.string().optional() });
const Created = z.object({ task: z.object({ id: z.coerce.string() }) });
const Listed = z.object({
  tasks: z.array(z.object({ id: z.coerce.string(), subject: z.string(), status: Status.catch('pending') })),
});

interface Call {
  tool: string;
  input: Record<string, unknown>;
  /** Made by a subagent, which has its own list. */
  isSubagent: boolean;
}

/** The progress of a conversation with Claude Code, from its messages. */
export class ClaudeProgress {
  readonly #limit: number;
  readonly #answers = new Set<string>();
  readonly #running = new Map<string, Call>();
  readonly #todo = new Map<string, TodoItem>();
  #used = 0;

  constructor(maxTurns: number) {
    this.#limit = maxTurns;
  }

  /** Returns what the message changes, or null. */
  take(message: ClaudeMessage): ProgressReport | null {
    if (message.type === 'assistant') return this.#answered(message);
    if (message.type !== 'user') return null;
    const results = message.message.content.filter(({ type }) => type === 'tool_result');
    if (results.length === 0) return null;
    const changes = results.map((block) => this.#finished(block, message.tool_use_result));
    return { tools: this.#tools(), ...(changes.includes(true) ? { todo: [...this.#todo.values()] } : {}) };
  }

  #answered({ message: { id, model, content }, parent_tool_use_id }: Extract<ClaudeMessage, { type: 'assistant' }>) {
    // Written by Claude Code itself.
    if (model === '<synthetic>') return null;
    const isSubagent = typeof parent_tool_use_id === 'string';
    if (!isSubagent) this.#answers.add(id);
    for (const { type, id: call, name: tool = '', input = {} } of content) {
      if (type !== 'tool_use' || call === undefined || tool === RESULT_TOOL || this.#running.has(call)) continue;
      this.#running.set(call, { tool, input, isSubagent });
      if (!TODO_TOOLS.includes(tool)) this.#used += 1;
    }
    return { turns: { used: this.#answers.size, limit: this.#limit }, tools: this.#tools() };
  }

  #tools() {
    const current = [...this.#running.values()].findLast(({ tool }) => !TODO_TOOLS.includes(tool));
    return { used: this.#used, current: current ? callLine(current.tool, current.input) : null };
  }

  /** Returns whether the to-do list has changed. A refused call changes nothing. */
  #finished({ tool_use_id = '', content, is_error }: Block, result: unknown): boolean {
    const call = this.#running.get(tool_use_id);
    this.#running.delete(tool_use_id);
    if (!call || call.isSubagent || is_error) return false;
    switch (call.tool) {
      case 'TodoWrite':
        return this.#replace(
          TodoWrite.safeParse(call.input).data?.todos.map(({ content: text, ...more }, index) => ({
            id: String(index),
            text,
            ...more,
          })),
        );
      case 'TaskList':
        return this.#replace(
          Listed.safeParse(result).data?.tasks.map(({ subject: text, ...more }) => ({ text, ...more })),
        );
      case 'TaskCreate':
        return this.#create(call.input, Created.safeParse(result).data?.task.id ?? idIn(content));
      case 'TaskUpdate':
        return this.#update(call.input);
      default:
        return false;
    }
  }

  #replace(items: { id: string; text: string; status: z.infer<typeof Status> }[] | undefined): boolean {
    if (!items) return false;
    this.#todo.clear();
    for (const { id, text, status } of items)
      if (status !== 'deleted') this.#todo.set(id, { text, status: STATUS[status] });
    return true;
  }

  #create(input: Record<string, unknown>, id: string | undefined): boolean {
    const read = TaskCreate.safeParse(input);
    if (!read.success || id === undefined) return false;
    this.#todo.set(id, { text: read.data.subject, status: 'pending' });
    return true;
  }

  #update(input: Record<string, unknown>): boolean {
    const read = TaskUpdate.safeParse(input);
    const item = read.success ? this.#todo.get(read.data.taskId) : undefined;
    if (!read.success || !item) return false;
    const { taskId, status, subject: text = item.text } = read.data;
    if (status === 'deleted') return this.#todo.delete(taskId);
    this.#todo.set(taskId, { text, status: status ? STATUS[status] : item.status });
    return true;
  }
}

/** From the words of the tool's answer: `Task #3 created successfully: …`. */
const idIn = (content: unknown): string | undefined => /Task #(\w+) created/.exec(JSON.stringify(content ?? ''))?.[1];
