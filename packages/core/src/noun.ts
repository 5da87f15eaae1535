import type { EventBody, EventType } from '@tidemill/contract';
import type { CommandOf, CommandType, DecideEnv, Decision } from './command.ts';
import type { Lookup } from './lookup.ts';
import type { Slice } from './slice.ts';

/** A command's parts: the rows it reads, and its decision. Both are pure. */
export interface CommandPart<T extends CommandType> {
  /** In addition to the command's project, which is always loaded. */
  scope(command: CommandOf<T>): Lookup[];
  decide(slice: Slice, command: CommandOf<T>, env: DecideEnv): Decision;
}
export type CommandParts<T extends CommandType> = { readonly [K in T]: CommandPart<K> };

export type EventOf<T extends EventType> = Extract<EventBody, { type: T }>;

/** Where and when an event happened. */
export interface Happened {
  projectId: string;
  at: number;
}

/** Applies an event to the rows of one noun. Several nouns may follow the same event, in the order of `nouns.ts`. */
export type Reduction<T extends EventType> = (slice: Slice, body: EventOf<T>, happened: Happened) => void;
export type Reductions = { readonly [T in EventType]?: Reduction<T> };

/** The reduction of an event that changes no row. */
export const changesNothing = (): void => undefined;
