import { AppError, nearest } from '@tidemill/contract';
import type { Command } from 'commander';

/** A mistyped subcommand would become a text, and an agent would be paid to read it. */
export function refuseMistyped(given: string | undefined, parent: Command): void {
  const commands = parent.commands.map((command) => command.name());
  const meant = given !== undefined && /^[a-z]+$/i.test(given) ? nearest(given, commands) : undefined;
  if (!meant) return;
  throw new AppError(
    'bad_input',
    `there is no command "${given}"; did you mean "tidemill ${parent.name()} ${meant}"?`,
    {
      hint: 'Write a text of more than one word.',
    },
  );
}
