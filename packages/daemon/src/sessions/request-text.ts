import { plainText, SessionRequest } from '@tidemill/contract';

type Read = { request: SessionRequest } | { fault: string };

const COMMAND = /^\/project-(start|create)(?:[ \t]+(.*))?$/;

/** A request as a program or a person wrote it: JSON, or Markdown with a command in its first line. */
export function readRequest(text: string, format: 'json' | 'md'): Read {
  const asked = format === 'json' ? fromJson(text) : fromMarkdown(text);
  if ('fault' in asked) return asked;
  const read = SessionRequest.safeParse(asked.value);
  if (read.success) return { request: read.data };
  const lines = read.error.issues.map(({ path, message }) => [...path, message].join(': '));
  return { fault: lines.slice(0, 3).join('; ') };
}

function fromJson(text: string): { value: unknown } | { fault: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { fault: `it is not JSON: ${plainText((error as Error).message).slice(0, 200)}` };
  }
}

/** Without a command the whole text is a message to the worker. */
function fromMarkdown(text: string): { value: unknown } | { fault: string } {
  const [first = '', ...rest] = text.trim().split(/\r?\n/);
  const command = COMMAND.exec(first.trim());
  if (!command) {
    if (first.startsWith('/')) return { fault: `${plainText(first).slice(0, 60)} is not a known command` };
    return { value: { request: 'message', text } };
  }
  const [, name, words = ''] = command;
  if (name === 'create') return { value: { request: 'create', title: words, body: rest.join('\n').trim() } };
  const digits = /^#?(\d{1,9})$/.exec(words.trim())?.[1];
  if (digits === undefined) return { fault: '/project-start needs the number of a task, such as /project-start 12' };
  return { value: { request: 'start', task: Number(digits) } };
}
