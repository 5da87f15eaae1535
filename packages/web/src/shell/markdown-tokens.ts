import MarkdownIt, { type Token } from 'markdown-it';
import { plain } from '../plain.ts';

/** A token of the parser with what it encloses. */
export interface TextPart {
  token: Token;
  parts: TextPart[];
  /** Of a list item that begins with `[ ]` or `[x]`: whether it is done. */
  isDone?: boolean;
}

interface Parsed {
  parts: TextPart[];
  /** What is not rendered, as written. */
  rest: string;
}

/** Blocks inside blocks. The parser drops what is deeper. */
const DEEPEST = 30;
/** Elements on the page, about. */
const MOST_TOKENS = 6000;

/** Everything that is written stays visible: no HTML, and no link definitions, which would not be shown. */
const parser = new MarkdownIt({ html: false, linkify: true, maxNesting: DEEPEST }).disable('reference');
// Whether an address may be a link is decided where it is shown: a refused one is shown as text.
parser.validateLink = () => true;
// Only complete addresses: README.md is a file name.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

/** As many blocks as the page can carry; the others are in `rest`. */
export function parseMarkdown(text: string): Parsed {
  const source = plain(text);
  const lines = source.split('\n');
  const tokens = parser.parse(source, {});
  if (tokens.some(({ level }) => level >= DEEPEST - 1)) return { parts: [], rest: source };
  const parts: TextPart[] = [];
  let count = 0;
  for (const part of nested(tokens)) {
    count += sizeOf(part);
    const start = part.token.map?.[0] ?? 0;
    if (count > MOST_TOKENS) return { parts, rest: lines.slice(start).join('\n') };
    takeTicks(part);
    keepCells(part, lines);
    parts.push(part);
  }
  return { parts, rest: '' };
}

/** Only what may stand within a line: a question's first sentence in a heading. */
export function parseInline(text: string): TextPart[] {
  return nested(parser.parseInline(plain(text), {}));
}

/** Builds the tree by the parser's opening and closing tokens. */
function nested(tokens: Token[]): TextPart[] {
  const root: TextPart[] = [];
  const open = [root];
  for (const token of tokens) {
    if (token.nesting === -1) {
      if (open.length > 1) open.pop();
      continue;
    }
    const part: TextPart = { token, parts: token.type === 'inline' ? nested(token.children ?? []) : [] };
    open.at(-1)!.push(part);
    if (token.nesting === 1) open.push(part.parts);
  }
  return root;
}

/** Takes `[ ]` and `[x]` from the beginning of list items. */
function takeTicks(part: TextPart): void {
  const first = part.token.type === 'list_item_open' ? part.parts[0]?.parts[0]?.parts[0]?.token : undefined;
  const tick = first?.type === 'text' ? /^\[([ xX])\]\s+/.exec(first.content) : null;
  if (first && tick) {
    part.isDone = tick[1] !== ' ';
    first.content = first.content.slice(tick[0].length);
  }
  part.parts.forEach(takeTicks);
}

/** A table with a row that is longer than its head is shown as written: its last cells would be missing. */
function keepCells(part: TextPart, lines: string[]): void {
  const { token, parts } = part;
  for (const inner of parts) keepCells(inner, lines);
  if (token.type !== 'table_open') return;
  const [head, body] = parts.map((inner) => inner.parts);
  const columns = head?.[0]?.parts.length ?? 0;
  if (!body?.some((row) => cellsOf(lines[row.token.map?.[0] ?? 0] ?? '') > columns)) return;
  const written = lines.slice(...(token.map ?? [0, 0])).join('\n');
  Object.assign(token, { type: 'code_block', content: written });
  part.parts = [];
}

const cellsOf = (line: string) =>
  line
    .replace(/^[\s>]*\|/, '')
    .replace(/\|\s*$/, '')
    .split(/(?<!\\)\|/).length;

const sizeOf = ({ parts }: TextPart): number => parts.reduce((sum, part) => sum + sizeOf(part), 1);

/** The text of a part without its marks. */
export const textOf = ({ token, parts }: TextPart): string =>
  token.content !== '' && token.type !== 'inline' ? token.content : parts.map(textOf).join('');

export const attribute = (token: Token, name: string): string => String(token.attrGet(name) ?? '');

const SAFE = new Set(['http:', 'https:', 'mailto:']);

/** The address if it may be opened from the page. A path of the repository is none. */
export function safeAddress(address: string): string | null {
  if (!URL.canParse(address)) return null;
  const url = new URL(address);
  return SAFE.has(url.protocol) ? url.href : null;
}

/** How deep each heading is below the others, from 0: a level that is left out makes no gap. */
export function headingDepths(parts: TextPart[]): Map<Token, number> {
  const depths = new Map<Token, number>();
  const above: number[] = [];
  const walk = (part: TextPart) => {
    const { token } = part;
    if (token.type === 'heading_open') {
      const level = Number(token.tag.slice(1));
      while (above.length > 0 && above.at(-1)! >= level) above.pop();
      depths.set(token, above.length);
      above.push(level);
    }
    part.parts.forEach(walk);
  };
  parts.forEach(walk);
  return depths;
}
