import type { Command, CommandType } from './command.ts';
import { type Lookup, look } from './lookup.ts';
import type { CommandPart } from './noun.ts';
import { commands } from './nouns.ts';

/** What a command reads, so that a store can load and lock exactly that before `decide` runs. */
export function scopeOf(command: Command): Lookup[] {
  const { scope } = commands[command.type] as CommandPart<CommandType>;
  return [look('project', command.projectId), ...scope(command)];
}
