import type { ChannelConfig, Question, Severity } from '@tidemill/contract';

/** A message to a person: one or more notices, or the questions of a batch. */
export interface ChannelMessage {
  /** Stays the same for every attempt to send it. */
  id: string;
  project: string;
  severity: Severity;
  title: string;
  at: number;
  parts: MessagePart[];
}

export interface MessagePart {
  /** The id of the notification. An answer uses it to name its question. */
  id: string;
  severity: Severity;
  title: string;
  text: string;
  question: Question | null;
}

/** A received answer: the index of an option of a part (from 0), or text for a part or a whole message. */
export type ChannelAnswer = {
  /** `telegram:@ada`. */
  by: string;
} & ({ partId: string; option: number } | { partId: string; text: string } | { reference: string; text: string });

/** Returns the reply for the person who answered. Never rejects. */
export type HearAnswer = (answer: ChannelAnswer) => Promise<{ isTaken: boolean; text: string }>;

/** A way to reach people. Its errors are `ChannelError`, without secrets. */
export interface Channel {
  /** Channels with the same value receive each other's answers, such as the same bot or app. */
  readonly line: string;
  /** Resolves when the service has accepted the message, with the service's id for it, or null if it has none. */
  send(message: ChannelMessage, signal: AbortSignal): Promise<string | null>;
  /** Absent for a channel without answers. Runs until the signal aborts, and rejects when it can no longer receive. */
  listen?(hear: HearAnswer, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export type OpenChannel = (config: ChannelConfig) => Promise<Channel>;
