import { PlainLine, Priority, TaskKind } from '@tidemill/contract';
import { itemBody, itemTitle, kindOfLabels, priorityOf, priorityOfItem } from '@tidemill/core';
import { z } from 'zod';
import { YamlFile } from '../../config/document.ts';

const List = z.preprocess(
  (value) => (typeof value === 'string' ? value.split(',').map((each) => each.trim()) : value),
  z.array(z.coerce.string<string | number>()).nullish(),
);

/** The head of a backlog file. Other keys belong to people and their tools. */
const Head = z.object({
  id: z.coerce.string<string | number>().nullish(),
  title: z.string().nullish(),
  status: z.string().nullish(),
  labels: List,
  tags: List,
  kind: z.string().nullish(),
  type: z.string().nullish(),
  priority: z.union([z.number(), z.string()]).nullish(),
  blocked_by: List,
  depends_on: List,
  dependencies: List,
  author: z.string().nullish(),
});

export interface ItemFile {
  id: string;
  title: string;
  body: string;
  labels: string[];
  kind: z.infer<typeof TaskKind>;
  priority: number;
  blockedBy: string[];
  author: string;
  state: 'open' | 'closed';
  isRejected: boolean;
  /** It is to be worked on. */
  isSelected: boolean;
}

/** Words for the status in use by people and tools. Everything else is not yet to be worked on. */
const READY = /^(?:|to[ _-]?do|open|ready|backlog|new|in[ _-]?progress|doing|started)$/i;
const DONE = /^(?:done|closed|complete[d]?|finished|released|landed)$/i;
const REJECTED = /^(?:cancel+ed|wont[ _-]?(?:do|fix)|won't (?:do|fix)|rejected|dropped|archived|duplicate)$/i;

/** Reads a file. A head that cannot be read is an error that names what is wrong. */
export function readItemFile(name: string, text: string): ItemFile {
  const match = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)(?:\r?\n)?---[ \t]*(?:\r?\n|$)/.exec(text);
  const head = match ? readHead(name, match[1] ?? '') : Head.parse({});
  const rest = match ? text.slice(match[0].length) : text;
  const heading = /^\s*#[ \t]+(.+?)[ \t]*#*[ \t]*(?:\r?\n|$)/.exec(rest);
  const title = itemTitle(head.title ?? heading?.[1] ?? name.replace(/[-_]+/g, ' '));
  const isTitleInBody = heading !== null && (head.title ?? heading[1]) === heading[1];
  const labels = [...(head.labels ?? []), ...(head.tags ?? [])].map((label) => PlainLine.parse(label)).filter(Boolean);
  const status = (head.status ?? '').trim();
  const isClosed = DONE.test(status) || REJECTED.test(status);
  const kind = TaskKind.safeParse((head.kind ?? head.type ?? '').toLowerCase());
  const said = head.priority === null || head.priority === undefined ? null : priorityOf(String(head.priority), true);
  return {
    id: head.id?.trim() || name,
    title,
    body: itemBody(isTitleInBody ? rest.slice(heading[0].length) : rest),
    labels,
    kind: kind.success ? kind.data : kindOfLabels([...labels, head.kind ?? '', head.type ?? '']),
    priority: Priority.parse(said ?? priorityOfItem(labels, null)),
    blockedBy: [...(head.blocked_by ?? []), ...(head.depends_on ?? []), ...(head.dependencies ?? [])],
    author: PlainLine.parse(head.author ?? ''),
    state: isClosed ? 'closed' : 'open',
    isRejected: REJECTED.test(status),
    isSelected: READY.test(status),
  };
}

function readHead(name: string, yaml: string): z.infer<typeof Head> {
  // The empty line replaces the first ---, so that errors have the file's line numbers.
  const file = new YamlFile(`${name}.md`, `\n${yaml}\n`);
  return file.parse(Head, (content) => content ?? {});
}
