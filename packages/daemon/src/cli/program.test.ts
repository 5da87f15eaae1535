import { Command } from 'commander';
import { expect, it } from 'vitest';
import { addOperations } from './operations.ts';
import { createProgram, GROUPS } from './program.ts';
import { openTerminal } from './terminal.ts';

const context = { env: {}, cwd: '/', terminal: openTerminal({}), setExitCode: () => undefined };

it.each(GROUPS)('the command group $words has exactly the commands it names', async ({ words, load }) => {
  const program = new Command();
  if (load) (await load())(program, context);
  for (const word of words) addOperations(program, context, word);
  expect(program.commands.map((command) => command.name()).sort()).toEqual([...words].sort());
});

it('the program has all commands without a first word, or with one that names no command', async () => {
  const all = GROUPS.flatMap(({ words }) => words).sort();
  for (const word of [undefined, '--help', 'help', 'statsu']) {
    const program = await createProgram(context, '1.0.0', word);
    expect(program.commands.map((command) => command.name()).sort()).toEqual(all);
  }
});

it('the program has only the group of a first word that names a command', async () => {
  const program = await createProgram(context, '1.0.0', 'budget');
  expect(program.commands.map((command) => command.name())).toEqual(['budget']);
});
