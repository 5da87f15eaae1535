/** The person's own Claude Code sessions in a repository, through the files of their hooks. */
export interface OwnSessions {
  /** What the next session is told at its start. Writes only when it changed. */
  tell(text: string): Promise<void>;
}
