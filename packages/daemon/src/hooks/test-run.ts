import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { readCounts } from '../gates/counts/read-counts.ts';
import { SummaryLines } from '../gates/counts/summary-lines.ts';
import type { CallFacts } from '../guards/call-facts.ts';
import { shellFacts } from '../guards/shell-facts.ts';
import type { GateCommand } from './gate-commands.ts';
import { isRecord } from './hook-input.ts';
import type { ToolUse } from './transcript.ts';

/** Programs whose every start is a test run, whatever their options. */
const RUNNERS =
  /^(vitest|jest|mocha|ava|tap|playwright test|cypress run|pytest|python3? -m (?:pytest|unittest)|node (?:--\S+ )*--test|bun test|deno test|cargo (?:test|nextest run)|go test|dotnet test|rspec|phpunit|mix test|gradlew? test|mvnw? test)(?= |$)/;
/** `npm t`, `npm run test`, `yarn test`: all of them run the script `test`. */
const SCRIPT = /^(?:npm|pnpm|yarn|bun)(?: --?\S+)* (?:run(?:-script)? )?(?:--?\S+ )*(\S+)/;

/** How a gate may be started: each list must be started as a whole. */
export function formsOf({ run }: GateCommand, worktree: string): string[][] {
  const started = commandsIn(run, worktree);
  const script = started.length === 1 ? scriptOf(started[0]!) : null;
  const own = script === null ? null : scriptsIn(worktree)[script];
  const parts = own === undefined || own === null ? [] : commandsIn(own, worktree);
  const tests = parts.filter((text) => RUNNERS.test(text));
  return [started, tests.length > 0 ? tests : parts].filter((form) => form.length > 0);
}

/** Whether a call starts the gate: `cd app && npm test` runs `npm test`, `echo npm test` does not. */
export function startsGate(use: ToolUse, forms: readonly string[][], worktree: string): boolean {
  const command = commandOf(use);
  if (command === null) return false;
  const started = commandsIn(command, worktree);
  return forms.some((form) => form.every((text) => started.some((each) => isSame(each, text))));
}

function isSame(started: string, wanted: string): boolean {
  const runner = RUNNERS.exec(wanted)?.[1];
  if (runner !== undefined && RUNNERS.exec(started)?.[1] === runner) return true;
  const script = scriptOf(wanted);
  if (script !== null && scriptOf(started) === script) return true;
  return started === wanted || started.startsWith(`${wanted} `);
}

/** The script of `package.json` that a command runs. */
function scriptOf(text: string): string | null {
  const name = SCRIPT.exec(text)?.[1];
  if (name === undefined || /^(exec|x|dlx|install|ci|i|add)$/.test(name)) return null;
  return name === 't' || name === 'tst' ? 'test' : name;
}

function scriptsIn(worktree: string): Record<string, string> {
  try {
    const { scripts } = JSON.parse(readFileSync(join(worktree, 'package.json'), 'utf8')) as { scripts?: unknown };
    if (!isRecord(scripts)) return {};
    return Object.fromEntries(
      Object.entries(scripts).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    );
  } catch {
    return {}; // no package.json, or not a readable one: the gate's own command counts
  }
}

export const commandOf = ({ tool, input }: ToolUse): string | null =>
  tool === 'Bash' && typeof input.command === 'string' ? input.command : null;

const commandsIn = (command: string, worktree: string) =>
  factsIn(command, worktree)?.commands.map(({ text }) => text) ?? [];

/** Null for what is not shell code: it starts nothing that is known. */
export function factsIn(command: string, worktree: string): CallFacts | null {
  try {
    return shellFacts(command, { worktree, cwd: worktree, home: homedir() });
  } catch {
    return null;
  }
}

/** A pipe, `|| true` or a command behind it: the exit code is not that of the tests. */
const HIDES = /\||[;\n]\s*(true|:|echo|exit 0|date)\b|&\s*$/;

/** Why the result of a test run shows nothing good; null when the tests passed. */
export function runProblem(command: string, { text, isError }: NonNullable<ToolUse['result']>): string | null {
  if (isError) return 'failed the last time it ran. Repair the cause, or say plainly in your answer that it fails.';
  if (text.trim() === '') return 'printed nothing, so it shows nothing. Run it so that its result can be seen.';
  const lines = new SummaryLines();
  lines.write(Buffer.from(text), 'stdout');
  const counts = readCounts(lines.finish(text)) ?? nodeFigures(text);
  if (counts && counts.failed > 0)
    return `ran, and ${counts.failed} of its tests failed. Repair the cause, or say plainly in your answer that they fail.`;
  if (counts && counts.passed === 0) return 'ran 0 tests, so it shows nothing. Run the tests that cover the change.';
  if (!counts && HIDES.test(command) && !/pipefail/.test(command))
    return 'ran so that neither its exit code nor its figures can be seen. Run it without a pipe and without `|| true`.';
  return null;
}

/** What `node --test | grep -E "pass|fail"` leaves of a summary. A gate needs the whole of it; a session is only reminded. */
function nodeFigures(text: string): { passed: number; failed: number } | null {
  const figure = (name: string) => new RegExp(`^[#ℹ] ${name} +(\\d+)$`, 'm').exec(text)?.[1];
  const [passed, failed] = [figure('pass'), figure('fail')];
  return passed === undefined || failed === undefined ? null : { passed: Number(passed), failed: Number(failed) };
}
