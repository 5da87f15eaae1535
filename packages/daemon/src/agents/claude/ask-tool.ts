import { QuestionType } from '@tidemill/contract';
import { z } from 'zod';
import type { AgentRequest } from '../../ports.ts';
import { readQuestions } from '../result.ts';
import type { ControlAnswer } from './control.ts';

/** Not the name of Tidemill's MCP server, which is another one. */
const SERVER = 'person';
const TOOL = 'ask_person';
/** The tool's name in Claude Code. It changes nothing, so no guard is called. */
export const ASK_TOOL = `mcp__${SERVER}__${TOOL}`;

const DESCRIPTION = [
  'Puts questions to the person this work is for. Returns at once: the answer comes later, in the next run.',
  'Use type blocking only for what you cannot go on without; for anything else give a default and go on with it.',
  'Do not ask what the task, its context or the code already tells.',
].join(' ');

const Asked = z.object({
  questions: z
    .array(
      z.object({
        id: z.string().optional().describe('Your own name for it: the answer comes back with it'),
        text: z.string().describe('One question, clear without further reading'),
        type: z.enum(QuestionType.options).optional().describe('blocking when left out'),
        context: z.string().optional().describe('Why you ask'),
        options: z
          .array(
            z.union([
              z.string(),
              z.object({
                label: z.string(),
                description: z.string().optional(),
                recommended: z.boolean().optional(),
                implications: z.string().optional(),
              }),
            ]),
          )
          .optional(),
        default: z.string().optional().describe('What you go on with while nobody has answered'),
        allowFreeText: z.boolean().optional().describe('False: only one of the options is an answer'),
        tags: z.array(z.string()).optional(),
      }),
    )
    .min(1),
});

/** A server of one tool in the Model Context Protocol. It runs in this process: its messages come over the channel. */
export interface AskServer {
  name: string;
  /** Null: the message needs no response. */
  answer(server: string, message: unknown): Promise<ControlAnswer | null>;
}

const Message = z.object({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).catch({}),
});

/** The tool for questions while the agent works; null where nobody could answer. */
export function askServer(ask: AgentRequest['ask']): AskServer | null {
  if (!ask) return null;
  return {
    name: SERVER,
    async answer(server, raw) {
      const { id, method, params } = Message.parse(raw);
      if (id === undefined) return null;
      const response = server === SERVER ? await respond(method, params, ask) : null;
      const unknown = { code: -32601, message: `${server} does not know ${method}` };
      return { jsonrpc: '2.0', id, ...(response === null ? { error: unknown } : { result: response }) };
    },
  };
}

async function respond(
  method: string,
  params: Record<string, unknown>,
  ask: NonNullable<AgentRequest['ask']>,
): Promise<ControlAnswer | null> {
  switch (method) {
    case 'initialize': {
      const { protocolVersion = '2025-06-18' } = params;
      return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: SERVER, version: '1' } };
    }
    case 'ping':
      return {};
    case 'tools/list':
      return { tools: [{ name: TOOL, description: DESCRIPTION, inputSchema: z.toJSONSchema(Asked) }] };
    case 'tools/call':
      return params.name === TOOL ? putQuestions(params.arguments, ask) : null;
    default:
      return null;
  }
}

async function putQuestions(raw: unknown, ask: NonNullable<AgentRequest['ask']>): Promise<ControlAnswer> {
  const asked = Asked.safeParse(raw);
  const read = asked.success ? readQuestions(asked.data.questions) : { invalid: z.prettifyError(asked.error) };
  if ('invalid' in read) return told(`The questions could not be read: ${read.invalid}`, true);
  return ask(read.questions).then(
    (text) => told(text),
    (error: Error) => told(`The questions could not be asked: ${error.message}`, true),
  );
}

const told = (text: string, isError = false) => ({ content: [{ type: 'text' as const, text }], isError });
