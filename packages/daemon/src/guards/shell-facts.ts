import type { Access } from './access.ts';
import { type CallFacts, located, type Scene } from './call-facts.ts';
import { shellAccesses } from './shell-accesses.ts';
import { commandText, type SimpleCommand } from './shell-command.ts';
import { simpleCommands } from './shell-commands.ts';
import { shownVariables } from './shell-environment.ts';

/** What a shell command would touch and start. Throws if it cannot be parsed, so that the call is refused. */
export function shellFacts(source: string, scene: Scene): CallFacts {
  const commands = simpleCommands(source, scene);
  const paths = located([...foldersEntered(commands, scene), ...commands.flatMap(shellAccesses)], scene);
  const started = commands
    .filter(({ name }) => name !== '')
    .map((command) => ({ text: commandText(command), isUnclear: command.isHidden || command.name.includes('\0') }));
  const shown = commands.flatMap(shownVariables).map((text) => ({ text, isUnclear: false }));
  return { paths, commands: [...started, ...shown], adds: { after: source, before: '' } };
}

/** Outside the worktree a command acts on its folder, even if it names no path. A `cd` back is allowed. */
function foldersEntered(commands: SimpleCommand[], { worktree, cwd }: Scene): Access[] {
  if (cwd === worktree) return [];
  const there = commands.find((command) => command.cwd === cwd && !['cd', 'pushd', 'pwd', ''].includes(command.name));
  return there ? [{ path: cwd, cwd, kind: 'enter', command: commandText(there) }] : [];
}
