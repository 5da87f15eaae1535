import type { SessionAnswer, SessionFile, SessionRequest } from '@tidemill/contract';

/** What the last run of a worker produced. Its texts and file names are an agent's. */
export interface SessionResponse {
  agentId: string;
  isFailed: boolean;
  outcome: string;
  failure: string | null;
  mode: string;
  runId: string;
  task: { number: number; title: string; branch: string; commit: string | null } | null;
  summary: string;
  files: string[];
  costUsd: number | null;
  finishedAt: string;
}

/** Files about the workers for other programs. A failed write has no other effect. */
export interface SessionFiles {
  put(file: SessionFile): void;
  /** Null: a run has started, and the response of the last one is removed. */
  respond(agentId: string, response: SessionResponse | null): void;
  drop(agentId: string): void;
  /** Removes the files of workers that no longer exist. */
  keepOnly(agentIds: string[]): Promise<void>;
  /** Settles when all writes have finished or failed. */
  settled(): Promise<void>;
}

/** A request that was taken from the folder. */
export interface TakenRequest {
  agentId: string;
  asked: { request: SessionRequest } | { fault: string };
  /** The same for the same file, also after a restart. */
  key: string;
  /** It was taken before, by a daemon that ended before the answer. */
  isRepeated: boolean;
  /** Writes the answer and removes the request. A refused one is kept beside it. */
  answer(answer: SessionAnswer): Promise<void>;
}
