import path from 'node:path';
import type { ToolCall as Announced, ToolCallUpdate, ToolKind } from '@agentclientprotocol/sdk';
import type { ToolCall } from '../../ports.ts';

/** A tool call, merged from all its updates. */
export type KnownTool = Pick<Announced, 'toolCallId'> & Partial<Omit<Announced, 'toolCallId'>>;

/** What a call does, or why that is unknown. An unknown call is refused. */
export type ReadTool = { calls: ToolCall[]; isReading: boolean } | { unclear: string };

export function mergeTool(known: KnownTool | undefined, update: ToolCallUpdate): KnownTool {
  const told = Object.fromEntries(Object.entries(update).filter(([, value]) => value !== null && value !== undefined));
  const { rawInput, locations, ...rest } = told as unknown as KnownTool;
  const merged: KnownTool = { ...known, ...rest };
  // The input is empty before the model has sent it.
  if (isObject(rawInput) && Object.keys(rawInput).length > 0) merged.rawInput = rawInput;
  if (locations && locations.length > 0) merged.locations = locations;
  return merged;
}

const CLAUDE_TOOL = /^(Write|Edit|MultiEdit|NotebookEdit|Bash|Read|Glob|Grep|WebFetch|WebSearch|LS|NotebookRead|Task)$/;
const CLAUDE_READING = /^(Read|Glob|Grep|LS|NotebookRead)$/;

/** Translates a tool call to Claude Code's names, which guards use. One call may affect several files. */
export function readTool(tool: KnownTool, worktree: string): ReadTool {
  const { input } = asNamed(tool);
  const told = FOLDERS.map((key) => input[key]).find((folder) => typeof folder === 'string');
  if (told === undefined || !('command' in input)) return readFrom(tool, input, worktree);
  const cwd = path.resolve(worktree, told);
  const read = readFrom(tool, input, cwd);
  return 'unclear' in read ? read : { ...read, calls: read.calls.map((call) => ({ ...call, cwd })) };
}

/** Names that agents use for the start folder of a command. */
const FOLDERS = ['cwd', 'workdir', 'working_directory', 'workingDirectory', 'directory', 'dir_path'];

/** The call under its own name. */
export function asNamed(tool: KnownTool): ToolCall {
  return { tool: nameOf(tool) || 'Unknown', input: normalised(isObject(tool.rawInput) ? tool.rawInput : {}) };
}

function readFrom(tool: KnownTool, input: Record<string, unknown>, cwd: string): ReadTool {
  const name = nameOf(tool);
  if (CLAUDE_TOOL.test(name)) {
    return { calls: [{ tool: name, input: absolute(input, cwd) }], isReading: CLAUDE_READING.test(name) };
  }
  const kind = tool.kind ?? kindOf(input);
  switch (kind) {
    case 'execute': {
      const command = commandOf(tool, input);
      if (command === '') return { unclear: 'the agent does not say which command it wants to run' };
      return { calls: [{ tool: 'Bash', input: { ...input, command } }], isReading: false };
    }
    case 'edit':
    case 'delete':
    case 'move':
      return readEdit(tool, input, cwd);
    case 'read':
    case 'search': {
      const files = filesOf(tool, input, cwd);
      const names = kind === 'read' ? { tool: 'Read', key: 'file_path' } : { tool: 'Grep', key: 'path' };
      const calls = (files.length > 0 ? files : [cwd]).map((file) => ({
        tool: names.tool,
        input: { ...input, [names.key]: file },
      }));
      return { calls, isReading: true };
    }
    case 'fetch':
      return { calls: [{ tool: 'WebFetch', input }], isReading: false };
    case 'switch_mode':
      return { unclear: 'the mode of the session is not the agent’s to choose' };
    default:
      return { calls: readOther(name, input, cwd), isReading: kind === 'think' || 'parentDir' in input };
  }
}

/** An unknown tool: by its own name, and by its input, which may contain a command or a file. */
function readOther(name: string, input: Record<string, unknown>, cwd: string): ToolCall[] {
  const calls: ToolCall[] = [{ tool: name || 'Unknown', input }];
  if (typeof input.command === 'string') calls.push({ tool: 'Bash', input });
  if (typeof input.file_path !== 'string') return calls;
  const file_path = path.resolve(cwd, input.file_path);
  // opencode first asks for a folder outside the worktree, then for the action there.
  if ('parentDir' in input) return [{ tool: 'Read', input: { file_path } }];
  return [...calls, { tool: 'Write', input: { file_path, content: '' } }];
}

function readEdit(tool: KnownTool, input: Record<string, unknown>, cwd: string): ReadTool {
  const files = filesOf(tool, input, cwd);
  if (files.length === 0) return { unclear: 'the agent does not say which file it wants to change' };
  const calls = files.map((file): ToolCall => {
    const diff = diffsOf(tool).find((candidate) => path.resolve(cwd, candidate.path) === file);
    const isWhole = !diff?.oldText || typeof input.content === 'string';
    const content = diff?.newText ?? input.content ?? input.diff ?? '';
    return isWhole
      ? { tool: 'Write', input: { file_path: file, content } }
      : { tool: 'Edit', input: { file_path: file, old_string: diff.oldText, new_string: diff.newText } };
  });
  return { calls, isReading: false };
}

const nameOf = (tool: KnownTool): string => {
  const claude = (tool._meta?.claudeCode as { toolName?: unknown } | undefined)?.toolName;
  return String(claude ?? tool.name ?? tool.title ?? '').trim();
};

function kindOf(input: Record<string, unknown>): ToolKind {
  if ('command' in input) return 'execute';
  return 'file_path' in input ? 'edit' : 'other';
}

/** The name of each input as Claude Code spells it. */
const SPELLED: Record<string, string> = {
  filePath: 'file_path',
  filepath: 'file_path',
  absolute_path: 'file_path',
  abs_path: 'file_path',
  file: 'file_path',
  oldString: 'old_string',
  newString: 'new_string',
  oldText: 'old_string',
  newText: 'new_string',
  cmd: 'command',
};

function normalised(input: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(input).map(([key, value]) => [SPELLED[key] ?? key, value] as const);
  return Object.fromEntries(entries);
}

function absolute(input: Record<string, unknown>, cwd: string): Record<string, unknown> {
  return typeof input.file_path === 'string' ? { ...input, file_path: path.resolve(cwd, input.file_path) } : input;
}

/** Some agents send a list of arguments instead of a line, mostly `[bash, -lc, line]`. */
function commandOf(tool: KnownTool, input: Record<string, unknown>): string {
  const { command } = input;
  if (typeof command === 'string') return command.trim();
  if (Array.isArray(command)) {
    const [shell, flag, line] = command.map(String);
    const isShell = /(^|\/)(ba|z|da)?sh$/.test(shell ?? '') && /^-\w*c$/.test(flag ?? '');
    return isShell && line !== undefined ? line : command.map(String).join(' ');
  }
  return (tool.title ?? '').replaceAll('`', '').trim();
}

function filesOf(tool: KnownTool, input: Record<string, unknown>, cwd: string): string[] {
  const changes = isObject(input.changes) ? Object.keys(input.changes) : [];
  const named = [input.file_path, input.path, input.destination, input.source].filter(
    (file) => typeof file === 'string',
  );
  const told = [
    ...named,
    ...changes,
    ...diffsOf(tool).map((diff) => diff.path),
    ...(tool.locations ?? []).map((at) => at.path),
  ];
  return [...new Set(told.map((file) => path.resolve(cwd, file as string)))];
}

const diffsOf = (tool: KnownTool) => (tool.content ?? []).filter((part) => part.type === 'diff');
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
