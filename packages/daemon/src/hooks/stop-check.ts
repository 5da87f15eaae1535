import { homedir } from 'node:os';
import { relative, resolve } from 'node:path';
import { shellFacts } from '../guards/shell-facts.ts';
import type { GateCommand } from './gate-commands.ts';
import type { ToolUse } from './transcript.ts';

const EDITORS: Record<string, string> = {
  Write: 'file_path',
  Edit: 'file_path',
  MultiEdit: 'file_path',
  NotebookEdit: 'notebook_path',
};
/** No gate depends on them. */
const PROSE = /\.(md|mdx|txt|rst|adoc)$/i;

/**
 * Why a session should not stop yet, or null: files were changed, and since then the tests did not run, failed, or printed
 * nothing. It helps the agent; the gates decide.
 */
export function stopProblem(uses: readonly ToolUse[], gates: readonly GateCommand[], worktree: string): string | null {
  const last = uses.findLastIndex((use) => changedFile(use, worktree) !== null);
  if (last < 0 || gates.length === 0) return null;
  const file = changedFile(uses[last]!, worktree);
  const tests = gates.filter(({ name, run }) => /test|spec|check/i.test(`${name} ${run}`));
  const wanted = tests.length > 0 ? tests : gates;
  const names = wanted.map(({ run }) => `\`${run}\``).join(' or ');
  const ran = uses.slice(last + 1).flatMap((use) => {
    const gate = use.result && wanted.find(({ run }) => runs(use, run, worktree));
    return gate ? [{ gate, result: use.result! }] : [];
  });
  const newest = ran.at(-1);
  if (!newest)
    return `${file} was changed, and the tests did not run after that. Run ${names}, look at the result, and then stop.`;
  const { gate, result } = newest;
  if (result.isError)
    return `\`${gate.run}\` failed the last time it ran. Repair the cause, or say plainly in your answer that it fails.`;
  if (result.text.trim() === '')
    return `\`${gate.run}\` printed nothing, so it shows nothing. Run it so that its result can be seen.`;
  return null;
}

function changedFile({ tool, input, result }: ToolUse, worktree: string): string | null {
  const path = input[EDITORS[tool] ?? ''];
  if (typeof path !== 'string' || result === null || result.isError) return null;
  const file = relative(worktree, resolve(worktree, path));
  return file.startsWith('..') || PROSE.test(file) || /^\.(tidemill|claude)\//.test(file) ? null : file;
}

/** Whether a call starts every command of the gate: `cd app && npm test` runs `npm test`, `echo npm test` does not. */
function runs({ tool, input }: ToolUse, gate: string, worktree: string): boolean {
  if (tool !== 'Bash' || typeof input.command !== 'string') return false;
  const wanted = startedBy(gate, worktree);
  const started = startedBy(input.command, worktree);
  return (
    wanted.length > 0 && wanted.every((text) => started.some((each) => each === text || each.startsWith(`${text} `)))
  );
}

function startedBy(command: string, worktree: string): string[] {
  try {
    return shellFacts(command, { worktree, cwd: worktree, home: homedir() }).commands.map(({ text }) => text);
  } catch {
    return []; // not shell code: it starts nothing that is known
  }
}
