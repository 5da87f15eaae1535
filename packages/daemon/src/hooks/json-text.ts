import { createScanner, findNodeAtLocation, type JSONPath, type Node, parseTree } from 'jsonc-parser';

// Adds and removes entries of a JSON text, which may have comments, and changes no other byte. jsonc-parser finds the
// positions. Its own `modify` is not used: it formats the lines around a change, and breaks a list on one line when it removes
// the last element.

const endOf = ({ offset, length }: Node) => offset + length;

/** The object or list at a path, or null. The text must be valid. */
export function containerAt(text: string, path: JSONPath): Node | null {
  const root = parseTree(text, [], { allowTrailingComma: true });
  return (root && findNodeAtLocation(root, path)) ?? null;
}

/** Adds an entry at the end of a container, in the layout of the text. `entry` is indented with tabs. */
export function withEntry(text: string, container: Node, entry: string): string {
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  const lines = (indent: string) => newline + indent + entry.replaceAll('\n', newline + indent).replaceAll('\t', unit);
  const last = container.children?.at(-1);
  if (!last) {
    const around = indentAt(text, container.offset);
    const close = endOf(container) - 1;
    return `${text.slice(0, close).trimEnd()}${lines(around + unit)}${newline}${around}${text.slice(close)}`;
  }
  const end = endOf(last);
  const comma = commaAfter(text, last);
  const lead = /\n([ \t]*)$/.exec(text.slice(0, last.offset))?.[1];
  // Strings contain no bare newline or tab, so only layout is replaced.
  if (lead === undefined) return `${text.slice(0, end)}, ${entry.replace(/\n\t*/g, ' ')}${text.slice(end)}`;
  // A comment behind the last entry stays on its line.
  const from = comma ?? end;
  const lineEnd = from + (/^,?[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/)?/.exec(text.slice(from))?.[0].length ?? 0);
  const first = comma === null ? `${text.slice(0, end)},${text.slice(end, lineEnd)}` : text.slice(0, lineEnd);
  return `${first}${lines(lead)}${comma === null ? '' : ','}${text.slice(lineEnd)}`;
}

/** Removes an entry with its comma and the blanks before it. */
export function withoutEntry(text: string, container: Node, index: number): string {
  const entries = container.children ?? [];
  const [before, entry] = [entries[index - 1], entries[index] as Node];
  const start = text.slice(0, entry.offset).trimEnd().length;
  const isOwnLine = text.slice(start, entry.offset).includes('\n');
  const own = commaAfter(text, entry);
  if (own !== null && isOwnLine) return text.slice(0, start) + text.slice(own + 1);
  if (own !== null) return text.slice(0, entry.offset) + text.slice(own + 1).trimStart();
  const comma = before ? commaAfter(text, before) : null;
  if (comma !== null)
    return text.slice(0, comma) + text.slice(comma + 1, Math.max(start, comma + 1)) + text.slice(endOf(entry));
  const rest = text.slice(endOf(entry));
  return text.slice(0, start) + (start === container.offset + 1 ? rest.trimStart() : rest);
}

/** The position of the comma after an entry, or null. */
function commaAfter(text: string, entry: Node): number | null {
  const scanner = createScanner(text, true);
  scanner.setPosition(endOf(entry));
  scanner.scan();
  return text[scanner.getTokenOffset()] === ',' ? scanner.getTokenOffset() : null;
}

const indentAt = (text: string, at: number) => /(?:^|\n)([ \t]*)[^\n]*$/.exec(text.slice(0, at))?.[1] ?? '';
