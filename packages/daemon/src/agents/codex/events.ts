import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import { Tokens } from './session-costs.ts';

// The lines `codex exec --json` prints. Unknown kinds are skipped: a newer Codex may send more.

const Item = z.looseObject({
  id: z.string().default(''),
  type: z.string(),
  text: z.string().default(''),
  message: z.string().default(''),
  command: z.string().default(''),
  aggregated_output: z.string().default(''),
  exit_code: z.number().nullable().default(null),
  status: z.string().default(''),
  changes: z.array(z.looseObject({ path: z.string(), kind: z.string() })).catch([]),
  server: z.string().default(''),
  tool: z.string().default(''),
  query: z.string().default(''),
  /** Of a to-do list. */
  items: z.array(z.looseObject({ text: z.string(), completed: z.boolean().catch(false) })).catch([]),
});
export type Item = z.infer<typeof Item>;

const Event = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('thread.started'), thread_id: z.string() }),
  z.looseObject({ type: z.literal('turn.completed'), usage: Tokens }),
  z.looseObject({ type: z.literal('turn.failed'), error: z.looseObject({ message: z.string() }) }),
  z.looseObject({ type: z.literal('error'), message: z.string() }),
  z.looseObject({ type: z.literal('item.started'), item: Item }),
  z.looseObject({ type: z.literal('item.updated'), item: Item }),
  z.looseObject({ type: z.literal('item.completed'), item: Item }),
]);
export type CodexEvent = z.infer<typeof Event>;

const LONGEST_LINE = 8 * 1024 * 1024;

/** Splits the output into lines and passes on the events. Other lines go to `plain`. */
export function createEventReader(onEvent: (event: CodexEvent) => void, plain: (text: string) => void) {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  const take = (line: string) => {
    if (line.trim() === '') return;
    const value = json(line);
    if (value === undefined) return plain(`${line}\n`);
    const event = Event.safeParse(value);
    if (event.success) onEvent(event.data);
  };
  const push = (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
    if (rest.length > LONGEST_LINE) rest = ''; // no event is that long, and memory must stay bounded
  };
  return {
    push: (chunk: Buffer) => push(decoder.write(chunk)),
    end() {
      push(decoder.end());
      take(rest);
      rest = '';
    },
  };
}

function json(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // not an event: the caller shows it as it is
  }
}

const SHOWN_OUTPUT = 4000;

/** The log text of an event, if any. */
export function describe(event: CodexEvent, cwd: string): string {
  switch (event.type) {
    case 'item.started':
      return event.item.type === 'command_execution' ? `$ ${bareCommand(event.item.command)}\n` : '';
    case 'item.completed':
      return describeItem(event.item, cwd);
    case 'turn.failed':
      return `failed: ${event.error.message}\n`;
    case 'error':
      return `error: ${event.message}\n`;
    default:
      return '';
  }
}

function describeItem(item: Item, cwd: string): string {
  switch (item.type) {
    case 'agent_message':
    case 'reasoning':
      return `${item.text}\n`;
    case 'command_execution': {
      const shown = item.aggregated_output.slice(-SHOWN_OUTPUT);
      const isCut = shown.length < item.aggregated_output.length;
      // Indented, to distinguish it from the agent's text.
      const output = shown === '' ? '' : `${shown.replace(/\n$/, '').replaceAll(/^/gm, '  ')}\n`;
      const code = item.exit_code === 0 ? '' : `(exit code ${item.exit_code})\n`;
      return `${isCut ? '  […]\n' : ''}${output}${code}`;
    }
    case 'file_change':
      return item.changes
        .map(
          (change) =>
            `${change.kind} ${path.relative(cwd, change.path)}${item.status === 'failed' ? ' (failed)' : ''}\n`,
        )
        .join('');
    case 'mcp_tool_call':
      return `${item.server}.${item.tool} ${item.status}\n`;
    case 'web_search':
      return `searched: ${item.query}\n`;
    case 'error':
      return `note: ${item.message}\n`;
    default:
      return '';
  }
}

/** The command without the shell that Codex puts around it. */
export function bareCommand(command: string): string {
  const inner = /^\S*sh -l?c '([\s\S]*)'$/.exec(command)?.[1];
  return inner === undefined ? command : inner.replaceAll(`'\\''`, "'");
}
