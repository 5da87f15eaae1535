import { AppError } from '@tidemill/contract';
import { getNodeValue, type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { z } from 'zod';
import { containerAt, withEntry, withoutEntry } from '../hooks/json-text.ts';
import { type EntryFormat, SERVER_NAME } from './entry.ts';

/** A server in a JSON file with comments: `{ "mcpServers": { "tidemill": … } }`. */
export function jsonEntry(list: string, server: object): EntryFormat {
  const Shape = z.looseObject({ [list]: z.record(z.string(), z.unknown()).optional() });
  const check = (text: string, file: string) => {
    const errors: ParseError[] = [];
    const value: unknown = parse(text, errors, { allowTrailingComma: true });
    const [first] = errors;
    const line = first && text.slice(0, first.offset).split('\n').length;
    if (first) throw unreadable(file, `${printParseErrorCode(first.error)} in line ${line}`);
    if (!Shape.safeParse(value).success) throw unreadable(file, `"${list}" is not an object`);
  };
  return {
    add(text, file) {
      const shown = (value: unknown) => JSON.stringify(value, null, '\t');
      if (text === null || text.trim() === '')
        return `${JSON.stringify({ [list]: { [SERVER_NAME]: server } }, null, 2)}\n`;
      check(text, file);
      const old = containerAt(text, [list, SERVER_NAME]);
      if (old && JSON.stringify(getNodeValue(old)) === JSON.stringify(server)) return text;
      const rest = old ? without(text, [list, SERVER_NAME], true) : text;
      const servers = containerAt(rest, [list]);
      if (servers) return withEntry(rest, servers, `"${SERVER_NAME}": ${shown(server)}`);
      return withEntry(rest, containerAt(rest, [])!, `"${list}": ${shown({ [SERVER_NAME]: server })}`);
    },
    remove(text, file) {
      check(text, file);
      if (!containerAt(text, [list, SERVER_NAME])) return text;
      const rest = without(text, [list, SERVER_NAME], false);
      return containerAt(rest, [])?.children?.length === 0 ? null : rest;
    },
  };
}

/** `isKept`: the list stays, even if it is then empty. */
function without(text: string, path: string[], isKept: boolean): string {
  const container = containerAt(text, path.slice(0, -1))!;
  const entries = container.children ?? [];
  if (entries.length === 1 && path.length > 1 && !isKept) return without(text, path.slice(0, -1), false);
  return withoutEntry(
    text,
    container,
    entries.findIndex(({ children }) => children?.[0]?.value === path.at(-1)),
  );
}

const unreadable = (file: string, why: string) =>
  new AppError('bad_config', `${file} cannot be read: ${why}`, {
    hint: 'Nothing was changed. Fix or move the file and try again.',
  });
