import { join } from 'node:path';
import type { Mode } from '@tidemill/contract';
import type { ToolCall } from '../ports.ts';
import type { Guard } from './guard.ts';
import { trial } from './trial.ts';

interface Surroundings {
  root: string;
  dataDir: string;
  /** The commands of the gates. */
  commands: readonly string[];
}

/** A pattern that repeats a repetition needs seconds for one of these. */
const LONG = ['a', ' ', '/', 'a/', '-a '].map((part) => `echo ${part.repeat(3_000 / part.length)}!`);

/**
 * Why a guard would be in the way of everyday work, or null. Everyday work is: to read and change some file, to look around,
 * and to run the gates.
 */
export async function everydayProblem(guard: Guard, { root, dataDir, commands }: Surroundings): Promise<string | null> {
  const decide = trial(guard, { root, dataDir });
  const file = (name: string) => ({ file_path: join(root, name) });
  const bash = (command: string): ToolCall => ({ tool: 'Bash', input: { command } });
  const calls: ToolCall[] = [
    ...['README.md', 'src/everyday.ts', 'everyday/any.py'].map((name) => ({ tool: 'Read', input: file(name) })),
    ...['src/everyday.ts', 'everyday/any.py', 'test/everyday.test.ts'].flatMap((name) => [
      { tool: 'Write', input: { ...file(name), content: 'everyday text\n' } },
      { tool: 'Edit', input: { ...file(name), old_string: 'everyday', new_string: 'other' } },
    ]),
    { tool: 'Grep', input: { pattern: 'everyday', glob: '*.everyday' } },
    ...['ls', 'git status', 'git diff', 'git log', 'cat src/everyday.ts', 'grep -n everyday src/everyday.ts'].map(bash),
  ];
  const session = guard.when.session ?? 'agent';
  const modes: Mode[] = guard.when.modes ?? ['implement'];
  for (const mode of modes) {
    for (const command of commands)
      if ((await decide(bash(command), mode, session)) === 'refused')
        return `would refuse \`${command}\`, a gate: agents could not test their work`;
    for (const call of calls)
      if ((await decide(call, mode, session)) === 'refused')
        return `would refuse everyday work: ${call.tool} ${Object.values(call.input)[0]}`.replace(`${root}/`, '');
    for (const command of LONG)
      if ((await decide(bash(command), mode, session)) === 'slow')
        return 'has a pattern that takes too long on a long text';
  }
  return null;
}
