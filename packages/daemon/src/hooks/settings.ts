import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '@tidemill/contract';
import { z } from 'zod';
import { entriesOf, type JsonEntry, rootOf, withEntry, withoutEntry } from './json-text.ts';

/** The parts of Claude Code's settings that matter here; all others pass untouched. */
const Settings = z.looseObject({
  hooks: z
    .looseObject({
      PreToolUse: z
        .array(z.looseObject({ hooks: z.array(z.looseObject({ command: z.string().optional() })).optional() }))
        .optional(),
    })
    .optional(),
});

/** What was done to a settings file, so that it can be undone to the byte. */
const Receipt = z.object({
  before: z.string().nullable(),
  after: z.string(),
  isFolderOurs: z.boolean().default(false),
});

export interface HookFile {
  file: string;
  dataDir: string;
}

/** Every hook command of ours ends so, wherever the program lies. */
const OURS = /tidemill guard( \|\| exit 2)?$/;
const TIMEOUT_S = 10;

/** Adds the hook; every other byte of the file stays. False when it was there already. */
export function installHook({ file, dataDir }: HookFile, command: string): boolean {
  const before = textOf(file);
  if (before !== null && commandsIn(before, file).includes(command)) return false;
  // An older entry may point at a program that has moved.
  const cleaned = before === null ? null : withoutOurs(before, file);
  const after = withHook(cleaned ?? '', command);
  const kept = receiptOf(file, dataDir);
  const original = kept?.after === before ? kept.before : cleaned;
  const isFolderOurs = kept?.after === before ? kept.isFolderOurs : !existsSync(dirname(file));
  replaceFile(receiptFile(file, dataDir), JSON.stringify({ before: original, after, isFolderOurs }), 0o600);
  replaceFile(file, after, 0o644);
  return true;
}

/** Takes out exactly what was added. False when there was nothing of ours. */
export function uninstallHook({ file, dataDir }: HookFile): boolean {
  const text = textOf(file);
  if (text === null || !commandsIn(text, file).some((command) => OURS.test(command))) return false;
  const kept = receiptOf(file, dataDir);
  const restored = kept?.after === text ? kept.before : withoutOurs(text, file);
  if (restored === null) rmSync(realPath(file));
  else replaceFile(file, restored, 0o644);
  if (restored === null && kept?.isFolderOurs && readdirSync(dirname(file)).length === 0) rmdirSync(dirname(file));
  rmSync(receiptFile(file, dataDir), { force: true });
  return true;
}

function withHook(text: string, command: string): string {
  const group = { matcher: '*', hooks: [{ type: 'command', command, timeout: TIMEOUT_S }] };
  const shown = (value: unknown) => JSON.stringify(value, null, '\t');
  if (text.trim() === '') return `${JSON.stringify({ hooks: { PreToolUse: [group] } }, null, 2)}\n`;
  const root = rootOf(text);
  const hooks = member(text, root, 'hooks');
  if (!hooks) return withEntry(text, root, `"hooks": ${shown({ PreToolUse: [group] })}`);
  const list = member(text, hooks.valueStart, 'PreToolUse');
  if (!list) return withEntry(text, hooks.valueStart, `"PreToolUse": ${shown([group])}`);
  return withEntry(text, list.valueStart, shown(group));
}

/** Without our entries, and without the containers that then hold nothing. */
function withoutOurs(source: string, file: string): string {
  let text = source;
  for (;;) {
    const groups = parsed(text, file).hooks?.PreToolUse ?? [];
    const index = groups.findIndex((group) => group.hooks?.some((hook) => OURS.test(hook.command ?? '')));
    if (index < 0) return text;
    const root = rootOf(text);
    const hooks = member(text, root, 'hooks') as JsonEntry;
    const list = member(text, hooks.valueStart, 'PreToolUse') as JsonEntry;
    const group = entriesOf(text, list.valueStart)[index] as JsonEntry;
    const inner = groups[index]?.hooks ?? [];
    if (inner.length > 1) {
      const entries = member(text, group.valueStart, 'hooks') as JsonEntry;
      const at = inner.findIndex((hook) => OURS.test(hook.command ?? ''));
      text = withoutEntry(text, entries.valueStart, at);
    } else if (groups.length > 1) text = withoutEntry(text, list.valueStart, index);
    else if (entriesOf(text, hooks.valueStart).length > 1) text = withoutMember(text, hooks.valueStart, 'PreToolUse');
    else text = withoutMember(text, root, 'hooks');
  }
}

const member = (text: string, container: number, key: string) =>
  entriesOf(text, container).find((entry) => entry.key === key);

function withoutMember(text: string, container: number, key: string): string {
  return withoutEntry(
    text,
    container,
    entriesOf(text, container).findIndex((entry) => entry.key === key),
  );
}

function commandsIn(text: string, file: string): string[] {
  const groups = parsed(text, file).hooks?.PreToolUse ?? [];
  return groups.flatMap((group) => group.hooks?.flatMap((hook) => hook.command ?? []) ?? []);
}

function parsed(text: string, file: string): z.output<typeof Settings> {
  if (text.trim() === '') return {};
  const refuse = (why: string, cause?: unknown) =>
    new AppError('bad_config', `${file} is not a settings file of Claude Code: ${why}`, {
      hint: 'Nothing was changed. Correct the file, or move it away, and try again.',
      cause,
    });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw refuse(cause instanceof Error ? cause.message : String(cause), cause);
  }
  const result = Settings.safeParse(value);
  if (result.success) return result.data;
  throw refuse(
    result.error.issues.map((issue) => `${issue.path.join('.') || 'the file'}: ${issue.message}`).join('; '),
  );
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new AppError('bad_config', `${file} cannot be read: ${(cause as Error).message}`, {
      hint: 'It must be a readable file, or not be there.',
      cause,
    });
  }
}

const realPath = (file: string) => (existsSync(file) ? realpathSync(file) : file);

/** All of it or none: through a temporary file beside it. A link stays a link, and the mode stays too. */
function replaceFile(file: string, text: string, mode: number): void {
  const target = realPath(file);
  mkdirSync(dirname(target), { recursive: true });
  const temporary = `${target}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, text, { mode: statSync(target, { throwIfNoEntry: false })?.mode ?? mode, flag: 'wx' });
    renameSync(temporary, target);
  } catch (cause) {
    rmSync(temporary, { force: true });
    throw new AppError('bad_config', `${file} could not be written: ${(cause as Error).message}`, {
      hint: 'Nothing was changed. The folder must be writable.',
      cause,
    });
  }
}

const receiptFile = (file: string, dataDir: string) =>
  join(dataDir, 'hooks', `${createHash('sha256').update(file).digest('hex').slice(0, 24)}.json`);

function receiptOf(file: string, dataDir: string): z.output<typeof Receipt> | null {
  const text = textOf(receiptFile(file, dataDir));
  if (text === null) return null;
  try {
    return Receipt.parse(JSON.parse(text));
  } catch {
    return null; // damaged: the entries are then found by their looks
  }
}
