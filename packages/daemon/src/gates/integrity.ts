import { lstat, open, readFile, readlink } from 'node:fs/promises';
import path from 'node:path';
import { plainName } from '@tidemill/contract';
import type { GateRequest } from '../ports.ts';
import { collisionFinder, numberTwin } from './name-collision.ts';
import { actsByItself, looseParts, modulesProblem, personFile } from './person-files.ts';

/**
 * Rules for every change, independent of the project's settings. It needs no process, so it cannot be bypassed: the
 * change is not empty, leaves alone the settings of Tidemill and of programs that act on them by themselves, and holds
 * no unresolved conflict, no link that leads out of the repository, no second name that differs only in case and no second
 * migration with the same number. Returns the
 * problems, one line each. `isLanded`: people may have made the change, so it may be empty and change their settings.
 */
export async function integrityProblems(
  folder: string,
  files: string[],
  { signal, isLanded = false, before }: Pick<GateRequest, 'signal' | 'isLanded' | 'before'>,
): Promise<string[]> {
  if (files.length === 0 && !isLanded) return ['nothing was changed'];
  const problems: string[] = [];
  const collisionOf = collisionFinder(folder, before);
  for (const file of files) {
    signal.throwIfAborted();
    const name = plainName(file);
    const twin = isLanded ? null : await collisionOf(file);
    const numbered = isLanded ? null : await numberTwin(folder, file, files, before);
    if (!isLanded && isSettings(file)) {
      problems.push(`${name}: the settings in .tidemill/ may be changed by a person only`);
    } else if (!isLanded && isIncludeList(file)) {
      problems.push(`${name}: it decides which private files are copied for agents, so only a person may change it`);
    } else if (isRequest(file)) {
      problems.push(`${name}: .claude-sessions/ holds what people and programs ask of agents, and is never committed`);
    } else if (!isLanded && (await isPersons(folder, file))) {
      problems.push(`${name}: an agent or editor on a person's machine acts on it, so only a person may change it`);
    } else if (await leadsOut(folder, file)) {
      problems.push(`${name}: a link must not lead out of the repository; make it relative, to a file in it`);
    } else if (twin !== null) {
      const why = `on macOS and Windows it is the same name as ${plainName(twin)}, so a clone there has only one of them`;
      problems.push(`${name}: ${why}; rename it`);
    } else if (numbered !== null) {
      problems.push(`${name}: ${plainName(numbered)} has the same number; give this migration the next free one`);
    } else if (await hasConflictMarkers(path.join(folder, file))) {
      problems.push(`${name}: holds unresolved conflict markers`);
    } else if (looseParts(file).join('/') === '.gitmodules') {
      const text = await shortText(path.join(folder, file));
      const problem = text === null ? null : modulesProblem(text);
      if (problem) problems.push(`${name}: ${problem}`);
    }
  }
  return problems;
}

/** Ignores case: on some file systems `.Tidemill` equals `.tidemill`. */
const isSettings = (file: string): boolean => looseParts(path.posix.normalize(file))[0] === '.tidemill';

/** `prepare/include.ts` copies ignored files of the person's checkout, such as `.env`, by this list. */
const isIncludeList = (file: string): boolean => looseParts(path.posix.normalize(file))[0] === '.worktreeinclude';

/** What lands there would look like a person's request. */
const isRequest = (file: string): boolean => looseParts(path.posix.normalize(file))[0] === '.claude-sessions';

/** Its target exists only on this machine, or differs in other clones. */
async function leadsOut(folder: string, file: string): Promise<boolean> {
  const target = await readlink(path.join(folder, file)).catch(() => null);
  if (target === null) return false;
  const inside = path.posix.join(path.posix.dirname(file), target);
  return path.posix.isAbsolute(target) || inside.split('/')[0] === '..';
}

const LONGEST_TEXT = 1024 * 1024;

async function isPersons(folder: string, file: string): Promise<boolean> {
  const kind = personFile(path.posix.normalize(file));
  if (kind !== 'text') return kind === 'protected';
  if (!(await lstat(path.join(folder, file)).catch(() => null))) return false;
  const text = await shortText(path.join(folder, file));
  return text === null || actsByItself(text);
}

/** Null for what is no plain file of a usual size. */
async function shortText(file: string): Promise<string | null> {
  const found = await lstat(file).catch(() => null);
  return found?.isFile() && found.size <= LONGEST_TEXT ? readFile(file, 'utf8') : null;
}

const MARKERS = [/\n<{7} /g, /\n={7}\r?\n/g, /\n>{7} /g];
const CHUNK = 256 * 1024;
/** As long as the longest marker: it may lie across two chunks. */
const OVERLAP = 10;

/** All three kinds of marker at the start of a line, in their order: a lone row of `=` is an ordinary heading. */
async function hasConflictMarkers(file: string): Promise<boolean> {
  const found = await lstat(file).catch(() => null);
  if (!found?.isFile()) return false; // deleted, a link or a submodule: nothing to read
  await using handle = await open(file, 'r');
  const buffer = Buffer.alloc(CHUNK);
  let wanted = 0;
  let carried = '\n';
  for (let isFirst = true; ; isFirst = false) {
    const { bytesRead } = await handle.read(buffer, 0, CHUNK);
    if (isFirst && buffer.subarray(0, Math.min(bytesRead, 8000)).includes(0)) return false;
    const text = carried + (bytesRead === 0 ? '\n' : buffer.toString('latin1', 0, bytesRead));
    let from = 0;
    for (let marker = MARKERS[wanted]; marker; marker = MARKERS[wanted]) {
      marker.lastIndex = from;
      const hit = marker.exec(text);
      if (!hit) break;
      from = hit.index + 1;
      wanted++;
    }
    if (wanted === MARKERS.length) return true;
    if (bytesRead === 0) return false;
    carried = text.slice(Math.max(from, text.length - OVERLAP));
  }
}
