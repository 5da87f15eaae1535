import { withoutSecrets } from '../text/secrets.ts';

// Without zod: a hook loads this before every tool of a person's session.

/** A use of a tool as it is kept. */
export interface CallToRecord {
  tool: string;
  /** `{worktree}`, a folder below it, or a folder elsewhere. */
  cwd: string;
  input: Record<string, JsonValue>;
  /** Something was left out or shortened. */
  isCut: boolean;
}

type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** Stands for the folder that the call was made in: worktrees are removed, and a call is tested elsewhere. */
export const WORKTREE_MARK = '{worktree}';

const MOST_TEXT = 2_000;
const MOST_ITEMS = 20;
const MOST_DEPTH = 4;
const MOST_CHARS = 6_000;

/** Keeps what guards look at: no secrets, texts and lists shortened, and paths independent of the worktree. */
export function callToRecord(
  { tool, cwd, input }: { tool: string; cwd?: string; input: Record<string, unknown> },
  worktree: string,
): CallToRecord {
  let isCut = false;
  const text = (value: string, most: number): string => {
    const clean = withoutSecrets(withMark(value.slice(0, MOST_CHARS), worktree));
    if (value.length <= MOST_CHARS && clean.length <= most) return clean;
    isCut = true;
    return clean.slice(0, most);
  };
  const kept = (value: unknown, depth: number, most: number): JsonValue => {
    if (typeof value === 'string') return text(value, most);
    if (typeof value === 'number' || typeof value === 'boolean' || value === null) return value;
    if (typeof value !== 'object' || depth === 0) {
      isCut = true;
      return null;
    }
    const entries = Object.entries(value);
    if (entries.length > MOST_ITEMS) isCut = true;
    const some = entries
      .slice(0, MOST_ITEMS)
      .map(([key, each]): [string, JsonValue] => [text(key, 200), kept(each, depth - 1, most)]);
    return Array.isArray(value) ? some.map(([, each]) => each) : Object.fromEntries(some);
  };
  const all = (most: number) => kept(input, MOST_DEPTH, most) as Record<string, JsonValue>;
  const long = all(MOST_TEXT);
  const isLong = JSON.stringify(long).length > MOST_CHARS;
  const short = isLong ? all(MOST_TEXT / MOST_ITEMS) : long;
  const fits = !isLong || JSON.stringify(short).length <= MOST_CHARS;
  if (!fits) isCut = true;
  return { tool: text(tool, 200), cwd: text(cwd ?? worktree, 500), input: fits ? short : {}, isCut };
}

const withMark = (text: string, worktree: string) =>
  worktree === '' || worktree === '/' ? text : text.replaceAll(worktree, WORKTREE_MARK);
