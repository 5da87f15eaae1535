import { AppError } from '@tidemill/contract';
import { type EntryFormat, SERVER_NAME, type ServerCommand } from './entry.ts';

const HEADER = `[mcp_servers.${SERVER_NAME}]`;
/** A table of ours, also one below it, in any of TOML's spellings. */
const OURS = new RegExp(`^\\s*\\[\\s*mcp_servers\\s*\\.\\s*(["']?)${SERVER_NAME}\\1\\s*(\\.[^\\]]*)?\\]`);
const TABLE = /^\s*\[/;
/** A server that is written in another way than as a table. It is not touched. */
const INLINE = new RegExp(`^\\s*(mcp_servers\\s*=|mcp_servers\\s*\\.\\s*["']?${SERVER_NAME}["']?\\s*=)`, 'm');

/** A server in Codex's config.toml: a table at the end. */
export function tomlEntry({ command, args }: ServerCommand): EntryFormat {
  // JSON's strings and lists of strings are also TOML's.
  const entry = `${HEADER}\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`;
  return {
    add(text, file) {
      if (text === null || text.trim() === '') return entry;
      check(text, file);
      const rest = without(text);
      return `${rest}${rest.endsWith('\n') ? '' : '\n'}\n${entry}`;
    },
    remove(text, file) {
      check(text, file);
      if (!text.split('\n').some((line) => OURS.test(line))) return text;
      const rest = without(text);
      return rest.trim() === '' ? null : rest;
    },
  };
}

function check(text: string, file: string): void {
  if (/("""|''')/.test(text) || INLINE.test(text))
    throw new AppError('bad_config', `${file} is written in a way that cannot be changed safely`, {
      hint: `Nothing was changed. Add or remove ${HEADER} yourself.`,
    });
}

/** Without our tables, and without the empty line before them. */
function without(text: string): string {
  const kept: string[] = [];
  let isOurs = false;
  for (const line of text.split('\n')) {
    if (TABLE.test(line)) isOurs = OURS.test(line);
    if (isOurs && OURS.test(line) && kept.at(-1) === '') kept.pop();
    if (!isOurs) kept.push(line);
  }
  const rest = kept.join('\n');
  return rest === '' || rest.endsWith('\n') || !text.endsWith('\n') ? rest : `${rest}\n`;
}
