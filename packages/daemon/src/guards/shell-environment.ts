import type { SimpleCommand } from './shell-command.ts';

const PRINTERS = new Set('echo printf cat tee base64 base32 xxd od rev tr fold'.split(' '));
const INTERPRETERS = /^(python[\d.]*|pypy|node|nodejs|deno|bun|ruby|perl|php|g?awk|mawk)$/;
/** Code that prints the whole environment. Code that only passes it to another program does not show it. */
const SHOWS_ALL =
  /(console\.\w+|print\w*|stdout\.write|stringify|dumps?|puts|inspect|\bpp?)\b[^;\n]{0,80}(process\.env|os\.environ|%ENV|\bENV|\bENVIRON|getenv\(\))(?!\s*(\?\.|\.[A-Za-z_]*|\[|\{))/;
const NAMED =
  /(?:process\.env(?:\?)?(?:\.|\[\s*['"`])|os\.environ\[\s*['"]|os\.environ\.get\(\s*['"]|getenv\(\s*['"]|ENV(?:IRON)?[[{]\s*['"]?|ENV\.fetch\(\s*['"])(\w+)/g;

/**
 * The environment variables that a command would show, as the commands that do only that: `printenv NAME`, or `printenv`
 * for all of them.
 */
export function shownVariables({ name, args, input, variables }: SimpleCommand): string[] {
  if (PRINTERS.has(name)) return variables.map((variable) => `printenv ${variable}`);
  if (!INTERPRETERS.test(name)) return [];
  const code = [...args, input ?? ''].join('\n').slice(0, 200_000);
  const named = [...code.matchAll(NAMED)].map(([, variable]) => `printenv ${variable}`);
  const isPrinted = SHOWS_ALL.test(code) || (args.includes('-p') && /process\.env\s*$/.test(args.at(-1) ?? ''));
  return [...new Set(named), ...(isPrinted ? ['printenv'] : [])];
}
