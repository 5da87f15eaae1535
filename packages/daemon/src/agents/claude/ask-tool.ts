import { QuestionType } from '@tidemill/contract';
import { z } from 'zod';
import type { AgentRequest } from '../../ports.ts';
import { readQuestions } from '../result.ts';
import type { Sdk } from './sdk.ts';
import type { QueryOptions } from './sdk-types.ts';

const SERVER = 'tidemill';
const TOOL = 'ask_person';
/** The tool's name in Claude Code. It changes nothing, so no guard is called. */
export const ASK_TOOL = `mcp__${SERVER}__${TOOL}`;

const DESCRIPTION = [
  'Puts questions to the person this work is for. Returns at once: the answer comes later, in the next run.',
  'Use type blocking only for what you cannot go on without; for anything else give a default and go on with it.',
  'Do not ask what the task, its context or the code already tells.',
].join(' ');

const Asked = {
  questions: z
    .array(
      z.object({
        text: z.string().describe('One question, clear without further reading'),
        type: z.enum(QuestionType.options).optional().describe('blocking when left out'),
        context: z.string().optional().describe('Why you ask'),
        options: z
          .array(
            z.object({
              label: z.string(),
              description: z.string().optional(),
              recommended: z.boolean().optional(),
              implications: z.string().optional(),
            }),
          )
          .optional(),
        default: z.string().optional().describe('What you go on with while nobody has answered'),
      }),
    )
    .min(1),
};

/** The tool for questions while the agent works, served from this process. */
export function askServer(sdk: Sdk, ask: AgentRequest['ask']): Pick<QueryOptions, 'mcpServers'> {
  if (!ask || !sdk.tool || !sdk.createSdkMcpServer) return {};
  const tool = sdk.tool(TOOL, DESCRIPTION, Asked, async ({ questions }) => {
    const read = readQuestions(questions);
    if ('invalid' in read) return told(`The questions could not be read: ${read.invalid}`, true);
    return ask(read.questions).then(
      (text) => told(text),
      (error: Error) => told(`The questions could not be asked: ${error.message}`, true),
    );
  });
  return { mcpServers: { [SERVER]: sdk.createSdkMcpServer({ name: SERVER, version: '1', tools: [tool] }) } };
}

const told = (text: string, isError = false) => ({ content: [{ type: 'text' as const, text }], isError });
