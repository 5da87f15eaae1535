import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { AppError } from '@tidemill/contract';
import { z } from 'zod';
import { asData, brief } from './reply.ts';
import type { Session } from './session.ts';
import { taskText } from './tools/task-text.ts';

const MOST_LISTED = 50;
const plain = 'text/plain';

/** For clients whose person picks what the model reads: tasks, and what waits for them. */
export function addResources(server: McpServer, session: Session): void {
  const project = async () => (await session.projectOf(undefined)).id;
  server.registerResource(
    'inbox',
    'tidemill://inbox',
    { title: 'What waits for you', mimeType: plain },
    async ({ href: uri }, { mcpReq: { signal } }) => ({
      contents: [{ uri, mimeType: plain, text: await inboxText(session, await project(), signal) }],
    }),
  );
  const unfinished = async (signal?: AbortSignal) => {
    const tasks = await session.api.tasks({ project: await project(), newestFirst: true, limit: MOST_LISTED }, signal);
    return tasks.filter(({ stage }) => stage !== 'done' && stage !== 'cancelled');
  };
  server.registerResource(
    'task',
    new ResourceTemplate('tidemill://task/{number}', {
      list: async ({ mcpReq: { signal } }) => ({
        resources: (await unfinished(signal)).map(({ number, title }) => ({
          ...{ uri: `tidemill://task/${number}`, name: `#${number}`, title: brief(title, 100), mimeType: plain },
        })),
      }),
      complete: {
        number: async (value) =>
          (await unfinished()).map(({ number }) => String(number)).filter((number) => number.startsWith(value)),
      },
    }),
    { title: 'A task', mimeType: plain },
    async ({ href: uri }, { number }, { mcpReq: { signal } }) => {
      const found = await session.api.task({ project: await project(), task: numberOf(number) }, signal);
      return { contents: [{ uri, mimeType: plain, text: asData(taskText(found)) }] };
    },
  );
}

/** What a person starts by name in their client. */
export function addPrompts(server: McpServer, session: Session): void {
  const user = (text: string) => ({ messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] });
  server.registerPrompt(
    'inbox',
    { title: 'What waits for me', description: 'Goes through what waits for you in Tidemill' },
    async ({ mcpReq: { signal } }) => {
      const { id } = await session.projectOf(undefined);
      const waiting = await inboxText(session, id, signal);
      return user(
        `Go through what waits for me in Tidemill. Say for each what it needs of me, and what you would answer and why. Decide nothing yourself.\n\n${waiting}`,
      );
    },
  );
  server.registerPrompt(
    'task',
    {
      title: 'Explain a task',
      description: 'Explains where a task stands',
      argsSchema: z.object({ number: z.string().describe('Its number') }),
    },
    async ({ number }, { mcpReq: { signal } }) => {
      const { id } = await session.projectOf(undefined);
      const found = await session.api.task({ project: id, task: numberOf(number) }, signal);
      return user(
        `Explain where this task of Tidemill stands, what was tried, and what would help it. Use the tools evidence and search_logs for details.\n\n${asData(taskText(found))}`,
      );
    },
  );
}

async function inboxText(session: Session, project: string, signal: AbortSignal): Promise<string> {
  const items = await session.api.inbox({ project }, signal);
  if (items.length === 0) return 'Nothing waits.';
  return asData(
    items
      .slice(0, MOST_LISTED)
      .map(({ ref, title }) => `${ref} ${brief(title, 300)}`)
      .join('\n'),
  );
}

function numberOf(given: string | string[] | undefined): string {
  const text = String(given ?? '');
  if (/^#?\d{1,15}$/.test(text)) return text;
  throw new AppError('bad_input', `"${text}" is not a task number`, { hint: 'Use a number such as 12.' });
}
