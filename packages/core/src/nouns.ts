import type { EventType } from '@tidemill/contract';
import { alertCommands } from './alert/commands.ts';
import { alertEvents } from './alert/events.ts';
import { budgetCommands } from './budget/commands.ts';
import { budgetEvents } from './budget/events.ts';
import type { CommandType } from './command.ts';
import { conflictCommands } from './conflict/commands.ts';
import { conflictEvents } from './conflict/events.ts';
import { workerCommands } from './fleet/commands.ts';
import { workerEvents } from './fleet/events.ts';
import { gateCommands } from './gate/commands.ts';
import { gateEvents } from './gate/events.ts';
import { leaseCommands } from './lease/commands.ts';
import { leaseEvents } from './lease/events.ts';
import { mergeCommands } from './merge/commands.ts';
import { mergeEvents } from './merge/events.ts';
import type { CommandParts, Reduction, Reductions } from './noun.ts';
import { projectCommands } from './project/commands.ts';
import { projectEvents } from './project/events.ts';
import { questionCommands } from './question/commands.ts';
import { questionEvents } from './question/events.ts';
import { runCommands } from './run/commands.ts';
import { runEvents } from './run/events.ts';
import { stageCommands } from './stage/commands.ts';
import { taskCommands } from './task/commands.ts';
import { taskEvents } from './task/events.ts';

/** Every command, by its noun. One without its scope and its decision does not compile. */
export const commands: CommandParts<CommandType> = {
  ...projectCommands,
  ...workerCommands,
  ...taskCommands,
  ...leaseCommands,
  ...runCommands,
  ...stageCommands,
  ...gateCommands,
  ...mergeCommands,
  ...conflictCommands,
  ...questionCommands,
  ...alertCommands,
  ...budgetCommands,
};

/** Who follows events, in this order. Accounts come before runs: they need what a run had cost until now. */
const followers = [
  budgetEvents,
  projectEvents,
  taskEvents,
  leaseEvents,
  runEvents,
  gateEvents,
  mergeEvents,
  conflictEvents,
  questionEvents,
  alertEvents,
  workerEvents,
] as const satisfies readonly Reductions[];

type Followed<F> = F extends unknown ? keyof F : never;
/** An event that no noun follows does not compile. */
type Unfollowed = Exclude<EventType, Followed<(typeof followers)[number]>>;
const everyEventIsFollowed: [Unfollowed] extends [never] ? true : Unfollowed = true;

export const reductions: ReadonlyMap<EventType, readonly Reduction<EventType>[]> =
  everyEventIsFollowed && byEvent(followers);

function byEvent(all: readonly Reductions[]): Map<EventType, Reduction<EventType>[]> {
  const found = new Map<EventType, Reduction<EventType>[]>();
  for (const each of all)
    for (const [type, reduction] of Object.entries(each) as [EventType, Reduction<EventType>][])
      found.set(type, [...(found.get(type) ?? []), reduction]);
  return found;
}
