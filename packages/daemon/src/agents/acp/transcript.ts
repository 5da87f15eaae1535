import type { SessionUpdate, ToolCallUpdate } from '@agentclientprotocol/sdk';
import type { AgentSink } from '../../ports.ts';
import { type KnownTool, mergeTool } from './tool.ts';

/** More than a run's log keeps. Output beyond it is dropped. */
const MOST_OUTPUT = 8 * 1024 * 1024;
/** The result is at the end, so only the last part is kept. */
const MOST_TEXT = 1024 * 1024;
const LONGEST_LABEL = 200;
const STATUS = { pending: 'pending', in_progress: 'active', completed: 'done' } as const;

/** Collects an agent's updates: its text for the log and the result, its tools, and the number of model requests. */
export interface Transcript {
  take(update: SessionUpdate): void;
  /** Text outside of updates. */
  note(text: string): void;
  /** A tool the agent asks permission for. */
  tool(update: ToolCallUpdate): KnownTool;
  /** A new prompt was sent. The following text is its answer. `limit`: the maximum number of requests. */
  beginTurn(mostRequests: number): void;
  endTurn(): { text: string; requests: number };
  /** The turn was aborted. A pending model request counts too. */
  breakOff(): void;
  mute(isMuted: boolean): void;
}

export interface TranscriptEvents {
  /** Another request to the model, as far as it is visible: each begins with text or a tool call. */
  onRequest(): void;
  /** Once in a turn that takes too many requests. */
  onLimit(): void;
}

export function createTranscript(sink: AgentSink, { onRequest, onLimit }: TranscriptEvents): Transcript {
  const tools = new Map<string, KnownTool>();
  const printed = new Set<string>();
  let text = '';
  let passed = 0;
  let isLineStart = true;
  let isMuted = false;
  /** A model request is pending without any answer yet. */
  let isThinking = false;
  let requests = 0;
  let limit = 0;

  const output = (piece: string) => {
    if (isMuted || piece === '' || passed >= MOST_OUTPUT) return;
    passed += piece.length;
    isLineStart = piece.endsWith('\n');
    sink.output(piece);
    if (passed >= MOST_OUTPUT) sink.output('\n[the agent says more than is passed on; the rest is dropped]\n');
  };
  const line = (said: string) => output(`${isLineStart ? '' : '\n'}${said}\n`);
  const speaks = () => {
    if (!isThinking) return;
    isThinking = false;
    requests += 1;
    onRequest();
    if (requests === limit + 1) onLimit();
  };
  const printTool = (tool: KnownTool, how: string) => {
    if (printed.has(tool.toolCallId)) return;
    printed.add(tool.toolCallId);
    line(`[${tool.kind ?? 'tool'}] ${labelOf(tool)}${how}`);
  };
  const knowTool = (update: ToolCallUpdate): KnownTool => {
    const tool = mergeTool(tools.get(update.toolCallId), update);
    tools.set(update.toolCallId, tool);
    return tool;
  };

  return {
    take(update) {
      switch (update.sessionUpdate) {
        case 'agent_message_chunk':
          if (isMuted) return;
          speaks();
          if (update.content.type !== 'text') return;
          text = (text + update.content.text).slice(-MOST_TEXT);
          return output(update.content.text);
        case 'agent_thought_chunk':
          return isMuted ? undefined : speaks();
        case 'tool_call':
        case 'tool_call_update': {
          if (isMuted) return;
          if (update.sessionUpdate === 'tool_call') speaks();
          const tool = knowTool(update);
          if (update.status === 'completed') printTool(tool, '');
          if (update.status === 'failed') printTool(tool, ' (failed)');
          if (update.status === 'completed' || update.status === 'failed') {
            isThinking = true;
            tools.delete(update.toolCallId);
          }
          return;
        }
        case 'plan': {
          const todo = update.entries.map(({ content, status }) => ({ text: content, status: STATUS[status] }));
          return sink.progress({ todo });
        }
        default:
          return;
      }
    },
    note: (said) => line(said.trimEnd()),
    tool(update) {
      speaks(); // some announce a tool only by asking for it
      const tool = knowTool(update);
      printTool(tool, '');
      return tool;
    },
    beginTurn(mostRequests) {
      limit = mostRequests;
      text = '';
      isThinking = true;
      requests = 0;
    },
    endTurn() {
      if (!isLineStart) output('\n');
      for (const tool of tools.values()) printTool(tool, ' (no end was told)');
      tools.clear();
      isThinking = false;
      return { text, requests };
    },
    breakOff: speaks,
    mute(isNowMuted) {
      isMuted = isNowMuted;
    },
  };
}

function labelOf({ title, name, rawInput }: KnownTool): string {
  const command = (rawInput as { command?: unknown } | undefined)?.command;
  const label = typeof command === 'string' ? command : (title ?? name ?? 'a tool');
  const folded = label.replace(/\s+/g, ' ').trim();
  return folded.length > LONGEST_LABEL ? `${folded.slice(0, LONGEST_LABEL)}…` : folded;
}
