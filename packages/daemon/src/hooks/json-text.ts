// Changes to a JSON text that leave every other byte as it was. The text must be valid JSON.

export interface JsonEntry {
  /** Of a member; null for an element of a list. */
  key: string | null;
  /** Where the entry begins, its key included. */
  start: number;
  valueStart: number;
  end: number;
}

const isBlank = (char: string | undefined) => char !== undefined && ' \t\r\n'.includes(char);

function skipBlanks(text: string, at: number): number {
  let next = at;
  while (isBlank(text[next])) next += 1;
  return next;
}

function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

function valueEnd(text: string, start: number): number {
  if (text[start] === '"') return stringEnd(text, start);
  if (text[start] !== '{' && text[start] !== '[') return start + text.slice(start).search(/[,\]}\s]|$/);
  let depth = 0;
  for (let at = start; ; at += 1) {
    if (text[at] === '"') at = stringEnd(text, at) - 1;
    else if (text[at] === '{' || text[at] === '[') depth += 1;
    else if (text[at] === '}' || text[at] === ']') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
}

/** What the object or list that starts here holds. */
export function entriesOf(text: string, container: number): JsonEntry[] {
  const isObject = text[container] === '{';
  const entries: JsonEntry[] = [];
  for (let at = skipBlanks(text, container + 1); text[at] !== '}' && text[at] !== ']'; at = skipBlanks(text, at)) {
    const start = at;
    const keyEnd = isObject ? stringEnd(text, at) : at;
    const valueStart = isObject ? skipBlanks(text, skipBlanks(text, keyEnd) + 1) : at;
    const end = valueEnd(text, valueStart);
    entries.push({ key: isObject ? (JSON.parse(text.slice(start, keyEnd)) as string) : null, start, valueStart, end });
    at = skipBlanks(text, end);
    if (text[at] === ',') at += 1;
  }
  return entries;
}

export const rootOf = (text: string): number => skipBlanks(text, 0);

/** Puts an entry at the end of a container, in the way the text is laid out. */
export function withEntry(text: string, container: number, entry: string): string {
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  const last = entriesOf(text, container).at(-1);
  const around = indentAt(text, container);
  const lines = (indent: string) => entry.replaceAll('\n', newline + indent).replaceAll('\t', unit);
  if (last) {
    const lead = /\n([ \t]*)$/.exec(text.slice(0, last.start))?.[1];
    const added = lead === undefined ? `, ${compact(entry)}` : `,${newline}${lead}${lines(lead)}`;
    return text.slice(0, last.end) + added + text.slice(last.end);
  }
  const close = skipBlanks(text, container + 1);
  const inner = around + unit;
  return `${text.slice(0, container + 1)}${newline}${inner}${lines(inner)}${newline}${around}${text.slice(close)}`;
}

/** Takes an entry out, with the comma and the blanks that came with it. */
export function withoutEntry(text: string, container: number, index: number): string {
  const entries = entriesOf(text, container);
  const { start, end } = entries[index] as JsonEntry;
  const [before, after] = [entries[index - 1], entries[index + 1]];
  if (before) return text.slice(0, before.end) + text.slice(end);
  if (after) return text.slice(0, start) + text.slice(after.start);
  return text.slice(0, container + 1) + text.slice(skipBlanks(text, end));
}

const indentAt = (text: string, at: number) => /(?:^|\n)([ \t]*)[^\n]*$/.exec(text.slice(0, at))?.[1] ?? '';

/** Layout stands only outside of strings, which hold no bare newline or tab. */
const compact = (entry: string) => entry.replace(/\n\t*/g, ' ');
