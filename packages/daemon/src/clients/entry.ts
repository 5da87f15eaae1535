/** The server's name in every client. */
export const SERVER_NAME = 'tidemill';

/** How a client starts the server. */
export interface ServerCommand {
  command: string;
  args: string[];
}

/** The entry of a server in a client's configuration. Both leave every other byte as it is. */
export interface EntryFormat {
  /** The text with the entry in place of an earlier one. */
  add(text: string | null, file: string): string;
  /** Null: nothing is left, so the file is not needed. */
  remove(text: string, file: string): string | null;
}
