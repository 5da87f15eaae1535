import type { ChannelConfig, Question, Severity } from '@tidemill/contract';

/** What a person is told: one or more notices, or the questions of a batch. */
export interface ChannelMessage {
  /** The same for every attempt to send it. */
  id: string;
  project: string;
  severity: Severity;
  title: string;
  at: number;
  parts: MessagePart[];
}

export interface MessagePart {
  /** The notification's, by which an answer names its question. */
  id: string;
  severity: Severity;
  title: string;
  text: string;
  question: Question | null;
}

/** An answer as it came in: an option of a part by its place (from 0), or words to a part or to a whole message. */
export type ChannelAnswer = {
  /** `telegram:@ada`. */
  by: string;
} & ({ partId: string; option: number } | { partId: string; text: string } | { reference: string; text: string });

/** Gives back what to tell whoever answered. Never rejects. */
export type HearAnswer = (answer: ChannelAnswer) => Promise<{ isTaken: boolean; text: string }>;

/** A way to reach people. Its errors are `ChannelError`, without secrets. */
export interface Channel {
  /** Those with the same line hear each other's answers: the same bot, the same app. */
  readonly line: string;
  /** Resolves once the other side has taken it, with what it calls the message; null when it has no name for it. */
  send(message: ChannelMessage, signal: AbortSignal): Promise<string | null>;
  /** Left out where a channel carries nothing back. Runs until the signal aborts; rejects when it hears no more. */
  listen?(hear: HearAnswer, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export type OpenChannel = (config: ChannelConfig) => Promise<Channel>;
