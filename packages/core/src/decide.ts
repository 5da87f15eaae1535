import type { Command, CommandType, DecideEnv, Decision } from './command.ts';
import type { CommandPart } from './noun.ts';
import { commands } from './nouns.ts';
import type { Slice } from './slice.ts';

/** The result of a command: events, or a refusal that changes nothing. The same arguments give the same decision. */
export function decide(slice: Slice, command: Command, env: DecideEnv): Decision {
  return (commands[command.type] as CommandPart<CommandType>).decide(slice, command, env);
}
