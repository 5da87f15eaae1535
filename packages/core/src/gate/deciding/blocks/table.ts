import { type TestBlock, type TestSource, textOf } from './items.ts';
import type { Shape } from './shape.ts';

const TABLE_CALLS =
  /^(parametrize|parameterized|expand|each|for|forEach|ValueSource|CsvSource|MethodSource|values|strings|ints|cases|case|with_cases|TestWith|data|ddt|combinations|product|subTest|named_data)$/;
const LOOPS =
  /^(forEach|map|entries|items|iter|into_iter|each|flatMap|keys|values|each_with_index|iter_mut|enumerate)$/;
const LISTS =
  /^(each|parametrize|entries|keys|values|enumerate|zip|sizeof|ARRAY_SIZE|ARRAYSIZE|len|product|of|sorted|N_ELEMENTS|countof)$/;

/**
 * Whether the bracket opens a table of cases: a list that a loop or a parametrized test runs through. New rows are new cases.
 * `parent` is the bracket around it.
 */
export function isTable(source: TestSource, item: TestBlock, shape: Shape, open: number, parent: number): boolean {
  const { tokens, partner, language } = source;
  const { text } = tokens[open]!;
  const previous = tokens[open - 1]?.text ?? '';
  if (!/^[[{(]$/.test(text) || previous === 'struct') return false;
  const before = parent > item.from ? tokens[parent - 1]!.text : '';
  if (
    parent >= item.from &&
    TABLE_CALLS.test(before) &&
    (text !== '(' || previous === ',') &&
    tokens[parent]!.text === '('
  )
    return true;
  if (
    parent >= item.from &&
    tokens[parent]!.text === '(' &&
    previous === '=' &&
    TABLE_CALLS.test(tokens[open - 2]?.text ?? '')
  )
    return true;
  if (parent >= item.from) return false;
  const end = partner[open]!;
  const after = tokens[end + 1]?.text ?? '';
  if (shape.kind === 'loop') {
    const header = tokens.slice(item.from, open).map((token) => token.text);
    const isBody = language.lines !== 'indent' && indexAfter(source, item, end) >= item.to;
    if (header[0] !== 'for' || isBody) return false;
    return /^(of|in)$/.test(previous) || header.includes('range');
  }
  if (open === item.from && after === '.' && LOOPS.test(tokens[end + 2]?.text ?? '')) return true;
  if (indexAfter(source, item, end) < item.to) return false;
  const name = nameBefore(source, item, shape, open);
  return name !== null && text !== '(' ? isOnlyLooped(source, name) : false;
}

/** The token after a bracket, without ends of lines and `as const`. */
function indexAfter({ tokens }: TestSource, { to }: TestBlock, end: number): number {
  let at = end + 1;
  while (at < to && /^(;|\n|as|const|satisfies)$/.test(tokens[at]!.text)) at += 1;
  return at;
}

/** The name in `name = […]`, `name := []T{…}`, `static T name[] = {…}`. */
function nameBefore({ tokens, partner }: TestSource, item: TestBlock, shape: Shape, open: number): string | null {
  let sign = shape.start;
  while (sign < open && !/^(=|:=)$/.test(tokens[sign]!.text))
    sign = tokens[sign]!.kind === 'open' ? partner[sign]! + 1 : sign + 1;
  if (sign >= open) return null;
  for (let each = sign + 1; each < open; each += 1) {
    if (/^[(,]$/.test(tokens[each]!.text)) return null;
    if (tokens[each]!.kind === 'open') each = partner[each]!;
  }
  let at = sign - 1;
  while (at > item.from && (tokens[at]!.kind === 'close' || tokens[at]!.text === ':'))
    at = tokens[at]!.kind === 'close' ? partner[at]! - 1 : at - 1;
  if (shape.names.length === 1) return shape.names[0]!;
  const name = tokens[at];
  return name?.kind === 'word' ? name.text : null;
}

/** A list that is also compared with something is an expectation. */
function isOnlyLooped({ tokens }: TestSource, name: string): boolean {
  let loops = 0;
  for (const [at, token] of tokens.entries()) {
    if (token.kind !== 'word' || token.text !== name) continue;
    const previous = tokens[at - 1]?.text ?? '';
    const next = tokens[at + 1]?.text ?? '';
    const isDeclared =
      next === '=' ||
      next === ':=' ||
      next === ':' ||
      /^(const|let|var|static|val)$/.test(previous) ||
      (next === '[' && tokens[at + 2]?.text === ']');
    if (isDeclared || previous === '.') continue;
    const isLooped =
      previous === 'range' ||
      (/^(of|in)$/.test(previous) && startsLoop(tokens, at)) ||
      (/^[(,]$/.test(previous) && LISTS.test(tokens[at - 2]?.text ?? '')) ||
      (previous === ',' && callBefore(tokens, at)) ||
      (next === '.' && LOOPS.test(tokens[at + 2]?.text ?? '')) ||
      (next === '[' && tokens[at + 2]?.kind === 'word');
    if (!isLooped) return false;
    loops += 1;
  }
  return loops > 0;
}

const startsLoop = (tokens: TestSource['tokens'], at: number) => {
  for (let back = at - 2; back > Math.max(0, at - 16); back -= 1) {
    if (tokens[back]!.text === 'for') return true;
    if (/^(assert|if|return|not)$/.test(tokens[back]!.text)) return false;
  }
  return false;
};

/** `parametrize("a, b", NAME)` */
const callBefore = (tokens: TestSource['tokens'], at: number) =>
  tokens[at - 2]?.kind === 'string' && tokens[at - 3]?.text === '(' && LISTS.test(tokens[at - 4]?.text ?? '');

/** The rows of a table. */
export function rowsIn({ tokens, partner }: TestSource, open: number): TestBlock[] {
  const rows: TestBlock[] = [];
  const end = partner[open]!;
  let from = open + 1;
  for (let at = open + 1; at <= end; at += 1) {
    const { kind, text } = tokens[at]!;
    if (kind === 'open') at = partner[at]!;
    else if (at === end || (text === ',' && kind === 'sign')) {
      if (at > from) rows.push({ from, to: at });
      from = at + 1;
    }
  }
  return rows;
}

/** The key of a row in a map, if it has one. */
export function keyOf(source: TestSource, { from, to }: TestBlock): string | null {
  const { tokens, partner } = source;
  for (let at = from; at < to; at += 1) {
    const { kind, text } = tokens[at]!;
    if (text === ':' || text === '=>') return textOf(source, { from, to: at });
    if (kind === 'open') at = partner[at]!;
  }
  return null;
}
