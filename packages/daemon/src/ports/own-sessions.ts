import type { HookNote } from '@tidemill/contract';

/** The person's own Claude Code sessions in a repository, through the files of their hooks. */
export interface OwnSessions {
  /** What the next session is told at its start. Writes only when it changed. */
  tell(text: string): Promise<void>;
  /** Lets the next call that this guard refuses pass, until then: of an own session, or of a task's agent. */
  letPass(guard: string, until: number, taskId?: string): Promise<void>;
  /** Whether a call of the task's agent may pass. It takes the permission: there is one call per permission. */
  takePass(guard: string, taskId: string, now: number): boolean;
  /** The newest evidence that says pass, by its hashes: a hook accepts a claim next to one of them. */
  prove(hashes: readonly string[]): Promise<void>;
  /** Hands over what the sessions noted about proposed guards. After a crash some of it may come twice. */
  takeNotes(keep: (notes: HookNote[]) => Promise<void>): Promise<void>;
}
