import path from 'node:path';
import type { ToolCall } from '../../ports.ts';

/** Translates a tool use of Codex's hook into one or more tool uses for the guards. */
export function toolCalls(tool: string, input: Record<string, unknown>, cwd: string): ToolCall[] {
  if (tool !== 'apply_patch' || typeof input.command !== 'string') return [{ tool, cwd, input }];
  const calls = patchCalls(input.command, cwd).map((call) => ({ ...call, cwd }));
  // An unreadable patch is still a write, and the guards get it unchanged.
  return calls.length > 0
    ? calls
    : [{ tool: 'Bash', cwd, input: { command: `apply_patch <<'PATCH'\n${input.command}\nPATCH` } }];
}

const FILE_LINE = /^\*\*\* (Add File|Update File|Delete File|Move to): (.+)$/;

function patchCalls(patch: string, cwd: string): ToolCall[] {
  const calls: ToolCall[] = [];
  let removed: string[] = [];
  let added: string[] = [];
  let open: { kind: string; file: string } | null = null;
  const close = () => {
    if (open) calls.push(asCall(open.kind, open.file, removed.join('\n'), added.join('\n')));
    [removed, added] = [[], []];
  };
  for (const line of patch.split('\n')) {
    const header = FILE_LINE.exec(line.trim());
    if (header) {
      const file = path.resolve(cwd, header[2]!.trim());
      if (header[1] === 'Move to') {
        calls.push({ tool: 'Write', input: { file_path: file, content: '' } });
        continue;
      }
      close();
      open = { kind: header[1]!, file };
    } else if (line.startsWith('+')) added.push(line.slice(1));
    else if (line.startsWith('-')) removed.push(line.slice(1));
  }
  close();
  return calls;
}

function asCall(kind: string, file: string, before: string, after: string): ToolCall {
  if (kind === 'Add File') return { tool: 'Write', input: { file_path: file, content: after } };
  return { tool: 'Edit', input: { file_path: file, old_string: before, new_string: after } };
}

export const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;
