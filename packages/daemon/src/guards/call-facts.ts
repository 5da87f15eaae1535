import { readFileSync, statSync } from 'node:fs';
import type { ToolCall } from '../ports.ts';
import type { Access, AccessKind } from './access.ts';
import { type Location, locationOf } from './location.ts';
import { sweptFiles } from './sweep.ts';

/** Where a call is made. */
export interface Scene {
  /** With links resolved. */
  worktree: string;
  cwd: string;
  home: string;
}

export interface TouchedPath {
  location: Location;
  kind: AccessKind;
  isWhole: boolean;
  isSwept: boolean;
  command: string | null;
}

export interface StartedCommand {
  text: string;
  /** Shell code that could not be parsed, or that runs text that is not known beforehand. */
  isUnclear: boolean;
}

/** Everything that guards check, collected once per call. */
export interface CallFacts {
  paths: TouchedPath[];
  commands: StartedCommand[];
  /** The text that would be written, and the text before. */
  adds: { after: string; before: string } | null;
}

const MOST_ACCESSES = 5_000;
const MOST_COMPARED = 4 * 1024 * 1024;
/** Reading a larger part than this counts as reading the whole file. */
const WHOLE_LINES = 1_000;
const SHELL_TOOLS = ['Bash', 'Monitor'];
const EDITORS: Record<string, string> = {
  Write: 'file_path',
  Edit: 'file_path',
  MultiEdit: 'file_path',
  NotebookEdit: 'notebook_path',
};
const READERS: Record<string, string> = { Read: 'file_path', NotebookRead: 'notebook_path' };
/** They search a folder; without a path, the working directory. */
const FINDERS = ['Grep', 'Glob', 'LS'];

/** Whether a call is or has a shell command. */
export const hasShell = ({ tool, input }: ToolCall): boolean =>
  SHELL_TOOLS.includes(tool) || (!(tool in EDITORS) && typeof input.command === 'string');

/** `shellFacts` parses the shell command of a call that has one. */
export function factsOf(
  { tool, input }: ToolCall,
  scene: Scene,
  shellFacts: (source: string, scene: Scene) => CallFacts,
): CallFacts {
  if (SHELL_TOOLS.includes(tool)) return shellFacts(text(tool, input, 'command'), scene);
  const paths = located(toolAccesses({ tool, input }, scene.cwd), scene);
  if (tool in EDITORS) return { paths, commands: [], adds: addedBy(tool, input, scene) };
  // Any field that a tool names `command` counts as shell code.
  if (typeof input.command !== 'string') return { paths, commands: [], adds: null };
  const shell = shellFacts(input.command, scene);
  return { ...shell, paths: [...paths, ...shell.paths] };
}

export function located(accesses: Access[], { worktree, home }: Scene): TouchedPath[] {
  if (accesses.length > MOST_ACCESSES) throw new Error('the call touches too many files at once');
  return accesses.map(({ path, cwd, kind, isWhole = false, isSwept = false, command = null }) => ({
    location: locationOf(path, cwd, worktree, home),
    kind,
    isWhole,
    isSwept,
    command,
  }));
}

function toolAccesses({ tool, input }: ToolCall, cwd: string): Access[] {
  const edited = EDITORS[tool];
  if (edited) return [{ path: text(tool, input, edited), cwd, kind: 'write' }];
  const read = READERS[tool];
  if (read) {
    const { limit, pages } = input;
    const isWhole = !(typeof limit === 'number' && limit <= WHOLE_LINES) && typeof pages !== 'string';
    return [{ path: text(tool, input, read), cwd, kind: 'read', isWhole }];
  }
  if (FINDERS.includes(tool)) return finderAccesses(tool, input, cwd);
  return unknownToolAccesses(input, cwd);
}

function finderAccesses(tool: string, input: Record<string, unknown>, cwd: string): Access[] {
  const folder = typeof input.path === 'string' && input.path !== '' ? input.path : '.';
  const given = tool === 'Grep' ? input.glob : tool === 'Glob' ? input.pattern : undefined;
  const globs = typeof given === 'string' ? given.split(/\s+/).filter((glob) => glob !== '') : [];
  const only = globs.filter((glob) => !glob.startsWith('!'));
  const kind = tool === 'Grep' ? 'read' : 'list';
  const below = only
    .map((glob) => glob.replace(/^\*\*\//, ''))
    .map((glob) => (glob.startsWith('/') ? glob : `${folder}/${glob}`));
  const named: Access[] = [folder, ...below].map((path) => ({ path, cwd, kind }));
  if (tool !== 'Grep' || typeof input.type === 'string') return named;
  const except = globs.filter((glob) => glob.startsWith('!')).map((glob) => glob.slice(1));
  const found = sweptFiles({ folders: [folder], cwd, only, except, skipsIgnored: true });
  // A search with a glob names its files. A search without one can be rewritten to leave these out.
  return [...named, ...found.map((path): Access => ({ path, cwd, kind, isSwept: globs.length === 0 }))];
}

/** An unknown tool (MCP): every path in its input may be written. */
function unknownToolAccesses(input: Record<string, unknown>, cwd: string): Access[] {
  return Object.entries(input).flatMap(([key, value]): Access[] => {
    if (!/(^|_)(path|paths|file|files|filename|filepath|dir|directory|folder|uri)$/i.test(snake(key))) return [];
    const values = Array.isArray(value) ? value : [value];
    return values
      .filter((each) => typeof each === 'string')
      .filter((each) => !/^(?!file:)[a-z][a-z0-9+.-]+:/i.test(each))
      .map((each) => ({ path: each.replace(/^file:\/\//, ''), cwd, kind: 'write' }));
  });
}

const snake = (key: string) => key.replace(/([a-z])([A-Z])/g, '$1_$2');

function text(tool: string, input: Record<string, unknown>, field: string): string {
  const value = input[field];
  if (typeof value === 'string' && value !== '' && !value.includes('\0')) return value;
  throw new Error(`${tool} was called without a proper ${field}`);
}

/** What an edit adds and what it replaces, so that a claim that existed before is not counted. */
function addedBy(tool: string, input: Record<string, unknown>, { worktree, cwd, home }: Scene): CallFacts['adds'] {
  const edits =
    tool === 'MultiEdit' && Array.isArray(input.edits) ? (input.edits as Record<string, unknown>[]) : [input];
  const join = (field: string) =>
    edits.map((edit) => (typeof edit?.[field] === 'string' ? edit[field] : '')).join('\n');
  if (tool === 'Write') {
    const { real } = locationOf(text(tool, input, 'file_path'), cwd, worktree, home);
    return { after: join('content'), before: real === null ? '' : contentOf(real) };
  }
  return { after: tool === 'NotebookEdit' ? join('new_source') : join('new_string'), before: join('old_string') };
}

function contentOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found?.isFile() && found.size <= MOST_COMPARED ? readFileSync(file, 'utf8') : '';
}
