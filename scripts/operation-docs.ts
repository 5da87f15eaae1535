import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RouteName, routeGroups, routes } from '../packages/contract/src/index.ts';
import { flagOf, type OfferedCommand, offeredCommands } from '../packages/daemon/src/cli/offered.ts';

// What docs/commands.md and docs/api.md say about rows of the contract's routes.
//   node scripts/operation-docs.ts           fails where the pages differ from the rows
//   node scripts/operation-docs.ts --write   writes them

const sentence = (text: string) => `${text[0]!.toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;

function commandRow({ offer, words, arguments: given }: OfferedCommand): string {
  const names = given.map(({ field, isList }) => `${field.toUpperCase()}${isList ? '…' : ''}`);
  const named = given.map(({ field }) => field);
  const options = Object.entries(offer.options ?? {}).flatMap(([field, text]) => {
    if (named.includes(field)) return [];
    const { flag, value, about } = flagOf(field, text);
    return [`\`${flag}${text.includes('<') ? ` ${value.toUpperCase()}` : ''}\`: ${about}.`];
  });
  const text = [sentence(offer.details ?? offer.about), ...options].join(' ');
  return `| \`tidemill ${[...words, ...names].join(' ')}\` | ${text} |`;
}

/** Each offered command has its row: in the place of the row that names it, else after its group, else at the end. */
export function withCommandRows(page: string, commands = offeredCommands()): string {
  const lines = page.split('\n');
  for (const command of commands) {
    const row = commandRow(command);
    const starts = (words: string[]) => (line: string) =>
      line.startsWith(`| \`tidemill ${words.join(' ')} `) || line.startsWith(`| \`tidemill ${words.join(' ')}\``);
    const at = lines.findIndex(starts(command.words));
    const last = lines.findLastIndex(starts(command.words.slice(0, 1)));
    if (at >= 0) lines[at] = row;
    else if (last >= 0) lines.splice(last + 1, 0, row);
    else
      lines.push(
        '',
        `## ${sentence(command.words[0]!).slice(0, -1)}`,
        '',
        '| command | what it does |',
        '|---|---|',
        row,
      );
  }
  return lines.join('\n').replace(/\n*$/, '\n');
}

const LIST = /(<!-- requests -->\n)[\s\S]*?(?=<!-- \/requests -->)/;

export function withRequests(page: string): string {
  const rows = Object.entries(routeGroups).flatMap(([group, table]) =>
    (Object.keys(table) as RouteName[]).map((name) => {
      const { method, path, summary, role, mcp } = routes[name];
      const tool = mcp ? ` MCP: \`${mcp.tool}\`.` : '';
      return `| ${group} | \`${method} ${path}\` | ${sentence(summary).replaceAll('|', '\\|')}${tool} | ${role} |`;
    }),
  );
  const table = ['| about | request | what it does | role |', '|---|---|---|---|', ...rows].join('\n');
  return page.replace(LIST, (_, start: string) => `${start}${table}\n`);
}

const PAGES: Record<string, (page: string) => string> = {
  'docs/commands.md': withCommandRows,
  'docs/api.md': withRequests,
};

if (import.meta.main) {
  for (const [name, written] of Object.entries(PAGES)) {
    const file = join(import.meta.dirname, '..', name);
    const before = readFileSync(file, 'utf8');
    const after = written(before);
    if (before === after) continue;
    if (process.argv.includes('--write')) writeFileSync(file, after);
    else {
      console.log(`${name} differs from the rows of the contract: run \`npm run docs\``);
      process.exitCode = 1;
    }
  }
}
