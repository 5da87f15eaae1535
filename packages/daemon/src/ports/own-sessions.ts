import type { HookNote } from '@tidemill/contract';

/** The person's own Claude Code sessions in a repository, through the files of their hooks. */
export interface OwnSessions {
  /** What the next session is told at its start. Writes only when it changed. */
  tell(text: string): Promise<void>;
  /** Lets the next call that this guard refuses pass, until then. */
  letPass(guard: string, until: number): Promise<void>;
  /** Hands over what the sessions noted about proposed guards. After a crash some of it may come twice. */
  takeNotes(keep: (notes: HookNote[]) => Promise<void>): Promise<void>;
}
