import { relative, resolve } from 'node:path';
import type { GateCommand } from './gate-commands.ts';
import { commandOf, factsIn, formsOf, runProblem, startsGate } from './test-run.ts';
import type { ToolUse } from './transcript.ts';

const EDITORS: Record<string, string> = {
  Write: 'file_path',
  Edit: 'file_path',
  MultiEdit: 'file_path',
  NotebookEdit: 'notebook_path',
};
/** No gate depends on them. */
const PROSE = /\.(md|mdx|txt|rst|adoc|log|out|tmp)$/i;
/** What a build makes, and what is no file of the work. */
const MADE = /(^|\/)(node_modules|dist|build|out|coverage|target|\.cache|__pycache__)(\/|$)/;
const IS_FILE = /\.[\w-]+$|(^|\/)(Makefile|Dockerfile|Gemfile|Rakefile|Procfile|Justfile)$/;

interface StoppingSession {
  worktree: string;
  /** A subagent whose work is to test: it must have run the tests, also when it changed nothing. */
  isTester: boolean;
}

/**
 * Why a session should not stop yet, or null: files were changed, and since then the tests did not run, failed, ran nothing, or
 * hid their result. It helps the agent; the gates decide.
 */
export function stopProblem(
  uses: readonly ToolUse[],
  gates: readonly GateCommand[],
  { worktree, isTester }: StoppingSession,
): string | null {
  if (gates.length === 0) return null;
  const last = uses.findLastIndex((use) => changedFile(use, worktree) !== null);
  if (last < 0 && !isTester) return null;
  const tests = gates.filter(({ name, run }) => /test|spec|check/i.test(`${name} ${run}`));
  const wanted = (tests.length > 0 ? tests : gates).map((gate) => ({ gate, forms: formsOf(gate, worktree) }));
  const names = wanted.map(({ gate: { run } }) => `\`${run}\``).join(' or ');
  // One command may change a file and then run the tests.
  const from = last >= 0 && commandOf(uses[last]!) === null ? last + 1 : Math.max(last, 0);
  const ran = uses.slice(from).flatMap((use) => {
    const found = use.result && wanted.find(({ forms }) => startsGate(use, forms, worktree));
    return found ? [{ gate: found.gate, command: commandOf(use) ?? '', result: use.result! }] : [];
  });
  const newest = ran.at(-1);
  if (newest) {
    const problem = runProblem(newest.command, newest.result);
    return problem === null ? null : `\`${newest.gate.run}\` ${problem}`;
  }
  if (last < 0) return `You test, and no tests ran. Run ${names}, look at the result, and report what you saw.`;
  return `${changedFile(uses[last]!, worktree)} was changed, and the tests did not run after that. Run ${names}, look at the result, and then stop.`;
}

function changedFile(use: ToolUse, worktree: string): string | null {
  const { tool, input, result } = use;
  if (result === null || result.isError) return null;
  const command = commandOf(use);
  if (command !== null) return fileChangedBy(command, worktree);
  const path = input[EDITORS[tool] ?? ''];
  if (typeof path !== 'string') return null;
  const file = relative(worktree, resolve(worktree, path));
  return file.startsWith('..') || !matters(file) ? null : file;
}

/** `sed -i`, a redirection, a here-document: what a shell command writes into the work. */
function fileChangedBy(command: string, worktree: string): string | null {
  const written = (factsIn(command, worktree)?.paths ?? []).filter(
    ({ kind, location }) => (kind === 'write' || kind === 'remove') && !location.isOutside && !location.isUnknown,
  );
  return written.map(({ location }) => location.shown).find((file) => IS_FILE.test(file) && matters(file)) ?? null;
}

const matters = (file: string) => !PROSE.test(file) && !MADE.test(file) && !/^\.(tidemill|claude)\//.test(file);
