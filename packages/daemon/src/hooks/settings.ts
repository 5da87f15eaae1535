import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '@tidemill/contract';
import { type JSONPath, type Node, type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { z } from 'zod';
import { containerAt, withEntry, withoutEntry } from './json-text.ts';
import { realPath, replaceFile, textOf } from './text-file.ts';

/** The parts of Claude Code's settings that are used here; all others stay unchanged. */
const Groups = z
  .array(z.looseObject({ hooks: z.array(z.looseObject({ command: z.string().optional() })).optional() }))
  .optional();
const Settings = z.looseObject({
  hooks: z
    .looseObject({
      ...{ PreToolUse: Groups, Stop: Groups, SubagentStop: Groups, SessionStart: Groups, UserPromptSubmit: Groups },
    })
    .optional(),
});

/** The events of Claude Code that are handled. Only an event about tools has a matcher. */
const EVENTS = ['PreToolUse', 'Stop', 'SubagentStop', 'SessionStart', 'UserPromptSubmit'] as const;
type HookEvent = (typeof EVENTS)[number];

/** What was done to a settings file, so that it can be undone byte for byte. */
const Receipt = z.object({
  before: z.string().nullable(),
  after: z.string(),
  isFolderOurs: z.boolean().default(false),
});

export interface HookFile {
  file: string;
  dataDir: string;
}

/** The commands of the hooks: the guard must refuse when it fails, the others must not. */
export interface HookCommands {
  guard: string;
  session: string;
}

/** All our hook commands end with this, regardless of the program's path. */
const OURS = /tidemill guard( \|\| exit [02])?$/;
const GUARD_TIMEOUT_S = 10;
const SESSION_TIMEOUT_S = 5;

/** Adds the hooks and changes no other byte. False when they were already there. */
export function installHook({ file, dataDir }: HookFile, commands: HookCommands): boolean {
  const before = textOf(file);
  const wanted = EVENTS.map((event) => [event, event === 'PreToolUse' ? commands.guard : commands.session] as const);
  if (before !== null && wanted.every(([event, command]) => commandsIn(before, file, event).includes(command)))
    return false;
  // An older entry may point at a program that has moved.
  const cleaned = before === null ? null : withoutOurs(before, file);
  const after = wanted.reduce((text, [event, command]) => withHook(text, event, command), cleaned ?? '');
  const kept = receiptOf(file, dataDir);
  const original = kept?.after === before ? kept.before : cleaned;
  const isFolderOurs = kept?.after === before ? kept.isFolderOurs : !existsSync(dirname(file));
  replaceFile(receiptFile(file, dataDir), JSON.stringify({ before: original, after, isFolderOurs }), 0o600);
  replaceFile(file, after, 0o644);
  return true;
}

/** Removes exactly what was added. False when there was nothing to remove. */
export function uninstallHook({ file, dataDir }: HookFile): boolean {
  const text = textOf(file);
  if (text === null || !EVENTS.some((event) => commandsIn(text, file, event).some((command) => OURS.test(command))))
    return false;
  const kept = receiptOf(file, dataDir);
  const restored = kept?.after === text ? kept.before : withoutOurs(text, file);
  if (restored === null) rmSync(realPath(file));
  else replaceFile(file, restored, 0o644);
  if (restored === null && kept?.isFolderOurs && readdirSync(dirname(file)).length === 0) rmdirSync(dirname(file));
  rmSync(receiptFile(file, dataDir), { force: true });
  return true;
}

function withHook(text: string, event: HookEvent, command: string): string {
  const isGuard = event === 'PreToolUse';
  const timeout = isGuard ? GUARD_TIMEOUT_S : SESSION_TIMEOUT_S;
  const group = { ...(isGuard ? { matcher: '*' } : {}), hooks: [{ type: 'command', command, timeout }] };
  const shown = (value: unknown) => JSON.stringify(value, null, '\t');
  const list = containerAt(text, ['hooks', event]);
  if (list) return withEntry(text, list, shown(group));
  const hooks = containerAt(text, ['hooks']);
  if (hooks) return withEntry(text, hooks, `"${event}": ${shown([group])}`);
  const root = containerAt(text, []);
  if (root) return withEntry(text, root, `"hooks": ${shown({ [event]: [group] })}`);
  return `${JSON.stringify({ hooks: { [event]: [group] } }, null, 2)}\n`;
}

/** Without our entries, and without the containers that are then empty. */
function withoutOurs(source: string, file: string): string {
  let text = source;
  for (const event of EVENTS) {
    for (;;) {
      const groups = parsed(text, file).hooks?.[event] ?? [];
      const index = groups.findIndex((group) => group.hooks?.some((hook) => OURS.test(hook.command ?? '')));
      if (index < 0) break;
      const inner = groups[index]?.hooks ?? [];
      const path = ['hooks', event, index, 'hooks', inner.findIndex((hook) => OURS.test(hook.command ?? ''))];
      text = withoutPath(text, path);
    }
  }
  return text;
}

function withoutPath(text: string, path: JSONPath): string {
  const container = containerAt(text, path.slice(0, -1)) as Node;
  const last = path.at(-1);
  const entries = container.children ?? [];
  // A group with only our hook is removed as a whole, and so is a list or an object that becomes empty.
  if (path.length > 1 && (entries.length === 1 || path.length === 4)) return withoutPath(text, path.slice(0, -1));
  const index = typeof last === 'number' ? last : entries.findIndex(({ children }) => children?.[0]?.value === last);
  return withoutEntry(text, container, index);
}

function commandsIn(text: string, file: string, event: HookEvent): string[] {
  const groups = parsed(text, file).hooks?.[event] ?? [];
  return groups.flatMap((group) => group.hooks?.flatMap((hook) => hook.command ?? []) ?? []);
}

function parsed(text: string, file: string): z.output<typeof Settings> {
  if (text.trim() === '') return {};
  const refuse = (why: string) =>
    new AppError('bad_config', `${file} is not a settings file of Claude Code: ${why}`, {
      hint: 'Nothing was changed. Fix or move the file and try again.',
    });
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  if (errors[0]) {
    const line = text.slice(0, errors[0].offset).split('\n').length;
    throw refuse(`${printParseErrorCode(errors[0].error)} in line ${line}`);
  }
  const result = Settings.safeParse(value);
  if (result.success) return result.data;
  throw refuse(
    result.error.issues.map((issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`).join('; '),
  );
}

const receiptFile = (file: string, dataDir: string) =>
  join(dataDir, 'hooks', `${createHash('sha256').update(file).digest('hex').slice(0, 24)}.json`);

function receiptOf(file: string, dataDir: string): z.output<typeof Receipt> | null {
  const text = textOf(receiptFile(file, dataDir));
  if (text === null) return null;
  try {
    return Receipt.parse(JSON.parse(text));
  } catch {
    return null; // damaged: the entries are then found by their content
  }
}
