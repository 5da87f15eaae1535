import { createProgram } from '../../packages/daemon/src/cli/program.ts';
import { openTerminal } from '../../packages/daemon/src/cli/terminal.ts';

/** A command as `--help` shows it. */
export interface ListedCommand {
  /** `task add` */
  path: string;
  options: string[];
}

type Command = Awaited<ReturnType<typeof createProgram>>;

const program = await createProgram(
  { env: {}, cwd: '/', terminal: openTerminal({}), setExitCode: () => undefined },
  'documented',
);

const optionsOf = (command: Pick<Command, 'options'>): string[] => [
  '--help',
  ...command.options.flatMap(({ long }) => long ?? []),
];

/** Every command of the program that does something; groups are named by what is in them. */
export function listCommands(group: Command = program, above = ''): ListedCommand[] {
  return group.commands.flatMap((command) => {
    const path = `${above}${command.name()}`;
    const inside = listCommands(command, `${path} `);
    return command.commands.length > 0 && command.options.length === 0
      ? inside
      : [{ path, options: optionsOf(command) }, ...inside];
  });
}

/** What is wrong with a call such as `tidemill task add "x" --accept "y"`; null when the program knows its words. */
export function findCall(call: string): string | null {
  let command = program;
  const words = call.split(/\s+/).slice(1);
  for (const word of words) {
    const next = command.commands.find((each) => each.name() === word);
    if (!next) break;
    command = next;
  }
  if (command === program) return `${call}: no such command`;
  const known = [command, ...command.commands].flatMap(optionsOf);
  const stray = call.match(/ --[a-z][a-z-]*/g)?.find((option) => !known.includes(option.trim()));
  return stray === undefined ? null : `${call}: no option${stray}`;
}
