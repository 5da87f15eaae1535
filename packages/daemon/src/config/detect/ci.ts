import { parse } from 'yaml';
import type { Folder } from './folder.ts';

/** Commands of the repository's own CI, in their order, without those that only some runs make. */
export async function ciCommands(folder: Folder): Promise<string[]> {
  const names = (await folder.names('.github/workflows')).filter((name) => /\.ya?ml$/.test(name)).sort();
  const files = [
    ...names.map((name) => `.github/workflows/${name}`),
    ...folder.present('.gitlab-ci.yml', '.circleci/config.yml', '.travis.yml'),
  ];
  const found = new Set<string>();
  for (const file of files) {
    const content = parsed(await folder.text(file));
    const isForChanges =
      !file.startsWith('.github') || /push|pull_request/.test(JSON.stringify(recordOf(content).on ?? ''));
    if (isForChanges) for (const command of commandsIn(content)) found.add(command);
  }
  return [...found];
}

function parsed(text: string): unknown {
  try {
    return parse(text, { logLevel: 'silent', uniqueKeys: false });
  } catch {
    // Somebody else's file with an error is no source, and not ours to report.
    return null;
  }
}

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** Keys that hold commands: GitHub's `run`, GitLab's and Travis's `script`, CircleCI's `command`. */
const KEYS = new Set(['run', 'script', 'command', 'before_script', 'install']);

function* commandsIn(value: unknown): Generator<string> {
  if (Array.isArray(value)) for (const each of value) yield* commandsIn(each);
  else if (typeof value === 'object' && value !== null) {
    const record = value as Record<string, unknown>;
    if ('working-directory' in record) return;
    for (const [key, each] of Object.entries(record)) {
      const texts =
        typeof each === 'string' ? [each] : Array.isArray(each) ? each.filter((one) => typeof one === 'string') : [];
      if (KEYS.has(key) && texts.length > 0) for (const text of texts) yield* linesOf(text);
      else yield* commandsIn(each);
    }
  }
}

function* linesOf(text: string): Generator<string> {
  for (const line of text.replaceAll('\\\n', ' ').split('\n')) {
    const command = line.trim().replace(/\s+/g, ' ');
    if (command !== '' && !command.startsWith('#')) yield command;
  }
}

/** Only commands that every machine can run: no expressions, variables, paths of the runner or privileges. */
export const isPlain = (command: string): boolean =>
  /^[\w./:=@ ,"'*-]+$/.test(command) && !/\bsudo\b|--(write|fix)\b|\/home\/|~\//.test(command);

/** The scripts of package.json that CI runs. */
export function scriptsIn(commands: string[]): Set<string> {
  const pattern = /\b(?:npm|yarn|pnpm|bun)\s+(?:-\S+\s+)*(?:run(?:-script)?\s+)?([\w:-]+)/g;
  return new Set(commands.flatMap((command) => [...command.matchAll(pattern)].map(([, name = '']) => name)));
}
