/** What is known about a task before the person names it. */
export interface TaskStart {
  title: string;
  body: string;
  files: string[];
}

interface Place {
  /** In the repository. */
  path: string;
  /** Starting at 1. */
  line: number;
}

const TODO = /(?:\/\/|#|\/\*|\*|<!--|--|;|%|\bREM\b)[^\n]*?\b(?:TODO|FIXME|XXX|HACK)\b(?:\([^)]*\))?\s*:?\s*(.*)$/;
const MOST_TITLE = 300;
const MOST_SELECTED = 20_000;

/** The text of a TODO comment on this line; null when it has none. */
export function todoIn(line: string): string | null {
  const found = TODO.exec(line);
  if (!found) return null;
  const text = found[1]!.replace(/\s*(?:\*\/|-->)\s*$/, '').trim();
  return text || 'Do what the TODO comment says';
}

export const draftOfTodo = ({ path, line }: Place, text: string): TaskStart => ({
  title: text.slice(0, MOST_TITLE),
  body: `From a TODO comment in ${path}, line ${line}. Remove the comment when it is done.`,
  files: [path],
});

export function draftOfSelection({ path, line }: Place, text: string, language: string): TaskStart {
  const code = text.length > MOST_SELECTED ? `${text.slice(0, MOST_SELECTED)}\n…` : text;
  const fence = '`'.repeat(Math.max(3, ...[...code.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return { title: '', body: `About ${path}, line ${line}:\n\n${fence}${language}\n${code}\n${fence}\n`, files: [path] };
}
