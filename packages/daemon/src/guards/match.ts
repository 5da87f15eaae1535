import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type { Mode } from '@tidemill/contract';
import type { SessionKind } from '../ports.ts';
import type { CallFacts, StartedCommand, TouchedPath } from './call-facts.ts';
import type { Guard } from './guard.ts';
import { globPattern } from './location.ts';

/** A guard with its globs and patterns ready to use. */
export interface ReadyGuard {
  guard: Guard;
  tools: RegExp[] | null;
  path: RegExp[] | null;
  command: RegExp[] | null;
  adds: RegExp[] | null;
  unlessPath: RegExp[];
  unlessCommand: RegExp[];
}

/** What a guard decides about: a path, a command, or the call as a whole. */
export type Subject = { path: TouchedPath } | { started: StartedCommand } | { call: true };

export interface Asked {
  tool: string;
  mode: Mode;
  session: SessionKind;
  facts: CallFacts;
  /** The hashes in the call that identify evidence which says `pass`. */
  proven: ReadonlySet<string>;
}

/** `{home}` and `{data}` are folders of this machine. */
export function readyGuard(guard: Guard, folders: { home: string; data: string }): ReadyGuard {
  const globs = (list: string[]) =>
    list.map((glob) =>
      globPattern(
        glob.replace(/^~(?=\/|$)/, folders.home).replace(/^\{(home|data)\}/, (_, key: 'home') => folders[key]),
      ),
    );
  const patterns = (list: string[]) => list.map((source) => new RegExp(source, 'iu'));
  const { when, unless, tools } = guard;
  return {
    guard,
    tools: tools ? tools.map(globPattern) : null,
    path: when.path ? globs(when.path) : null,
    command: when.command ? patterns(when.command) : null,
    adds: when.adds ? patterns(when.adds) : null,
    unlessPath: globs(unless?.path ?? []),
    unlessCommand: patterns(unless?.command ?? []),
  };
}

/** Whether a guard matches the subject. The caller chooses which match decides. */
export function applies(ready: ReadyGuard, subject: Subject, asked: Asked): boolean {
  const { when } = ready.guard;
  if (ready.tools && !ready.tools.some((tool) => tool.test(asked.tool.toLowerCase()))) return false;
  if (when.modes && !when.modes.includes(asked.mode)) return false;
  if (when.session && when.session !== asked.session) return false;
  const { path, outside, unknown, access, swept, linesOver, bytesOver } = when;
  const asksPath = [path, outside, unknown, access, swept, linesOver, bytesOver].some((asked) => asked !== undefined);
  const asksCommand = when.command !== undefined || when.unclear !== undefined;
  if (asksPath) {
    if (!('path' in subject) || !pathFits(ready, subject.path, asked)) return false;
  } else if (asksCommand) {
    if (!('started' in subject) || !commandFits(ready, subject.started)) return false;
  } else if (!('call' in subject)) return false;
  if (ready.adds && !addsAny(ready.adds, asked.facts.adds)) return false;
  return !isExcepted(ready, subject, asked);
}

function pathFits(ready: ReadyGuard, path: TouchedPath, asked: Asked): boolean {
  const { when } = ready.guard;
  const { location, kind } = path;
  if (when.outside !== undefined && when.outside !== (location.isOutside && !location.isUnknown)) return false;
  if (when.swept !== undefined && when.swept !== path.isSwept) return false;
  if (when.unknown !== undefined && when.unknown !== location.isUnknown) return false;
  if (when.access && !when.access.some((wanted) => wanted === kind || (wanted === 'write' && kind === 'remove')))
    return false;
  // To deny, one matching name is enough; to allow, the file itself must match.
  const forms = ready.guard.verdict === 'allow' ? location.forms.slice(0, 1) : location.forms;
  if (ready.path && !forms.some((form) => ready.path?.some((glob) => glob.test(form)))) return false;
  if (
    ready.command &&
    !(path.command !== null && ready.command.some((pattern) => pattern.test(path.command as string)))
  )
    return false;
  return isLarge(when, path, asked.facts.adds?.after ?? '');
}

function commandFits(ready: ReadyGuard, { text, isUnclear }: StartedCommand): boolean {
  const { when } = ready.guard;
  if (when.unclear !== undefined && when.unclear !== isUnclear) return false;
  return ready.command === null || ready.command.some((pattern) => pattern.test(text));
}

function isExcepted({ guard, unlessPath, unlessCommand }: ReadyGuard, subject: Subject, { facts, proven }: Asked) {
  if ('path' in subject && subject.path.location.forms.every((form) => unlessPath.some((glob) => glob.test(form))))
    return true;
  if ('started' in subject && unlessCommand.some((pattern) => pattern.test(subject.started.text))) return true;
  if (!guard.unless?.evidence) return false;
  return hashesIn(facts.adds?.after ?? '').some((hash) => proven.has(hash));
}

export const hashesIn = (text: string): string[] => text.match(/\b[0-9a-f]{64}\b/g) ?? [];

/** More often than before: text that only moves, or stays, is not a new claim. */
function addsAny(patterns: RegExp[], adds: CallFacts['adds']): boolean {
  if (!adds) return false;
  return patterns.some((pattern) => {
    const found = (text: string) =>
      (text.match(new RegExp(pattern.source, 'giu')) ?? []).map((match) => match.toLowerCase());
    const left = found(adds.before);
    return found(adds.after).some((match) => {
      const at = left.indexOf(match);
      if (at >= 0) left.splice(at, 1);
      return at < 0;
    });
  });
}

function isLarge({ linesOver, bytesOver }: Guard['when'], path: TouchedPath, written: string): boolean {
  if (linesOver === undefined && bytesOver === undefined) return true;
  if (path.kind === 'write') {
    const lines = written.split('\n').length;
    return (linesOver === undefined || lines > linesOver) && (bytesOver === undefined || written.length > bytesOver);
  }
  const { real } = path.location;
  const found = real === null ? undefined : statSync(real, { throwIfNoEntry: false });
  if (!path.isWhole || !found?.isFile()) return false;
  if (bytesOver !== undefined && found.size <= bytesOver) return false;
  return linesOver === undefined || hasMoreLines(real as string, linesOver);
}

function hasMoreLines(file: string, most: number): boolean {
  const handle = openSync(file, 'r');
  try {
    const chunk = Buffer.alloc(64 * 1024);
    for (let lines = 0; ; ) {
      const size = readSync(handle, chunk);
      if (size === 0) return false;
      for (let at = chunk.indexOf(10); at >= 0 && at < size; at = chunk.indexOf(10, at + 1)) lines += 1;
      if (lines > most) return true;
    }
  } finally {
    closeSync(handle);
  }
}
