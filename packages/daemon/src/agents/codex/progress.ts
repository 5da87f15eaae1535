import type { ProgressReport } from '@tidemill/contract';
import { bareCommand, type CodexEvent, type Item } from './events.ts';

const TOOLS = ['command_execution', 'file_change', 'mcp_tool_call', 'web_search'];

/** The progress of a Codex run, from its events. Over all its turns: a repair turn continues the count. */
export class CodexProgress {
  readonly #limit: number;
  readonly #used = new Set<string>();
  readonly #running = new Map<string, string>();
  #requests = 0;
  #processes = 0;

  constructor(maxTurns: number) {
    this.#limit = maxTurns;
  }

  /** Another process begins. It numbers its items from zero again. */
  begin(): void {
    this.#processes += 1;
    this.#running.clear();
  }

  /** Returns what the event changes, or null. */
  take(event: CodexEvent): ProgressReport | null {
    if (event.type !== 'item.started' && event.type !== 'item.updated' && event.type !== 'item.completed') return null;
    const { item } = event;
    if (item.type === 'todo_list')
      return { todo: item.items.map(({ text, completed }) => ({ text, status: completed ? 'done' : 'pending' })) };
    if (!TOOLS.includes(item.type)) return null;
    const id = `${this.#processes} ${item.id}`;
    this.#used.add(id);
    if (event.type === 'item.completed') this.#running.delete(id);
    else this.#running.set(id, lineOf(item));
    return { tools: { used: this.#used.size, current: [...this.#running.values()].at(-1) ?? null } };
  }

  /** The number of requests to the model so far. Returns null when it is known already. */
  requests(count: number): ProgressReport | null {
    if (count === this.#requests) return null;
    this.#requests = count;
    return { turns: { used: count, limit: this.#limit } };
  }
}

function lineOf(item: Item): string {
  switch (item.type) {
    case 'command_execution':
      return bareCommand(item.command);
    case 'file_change':
      return 'changes files';
    case 'web_search':
      return `searches ${item.query}`;
    default:
      return `${item.server}.${item.tool}`;
  }
}
