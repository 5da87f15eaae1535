import type { RunBinding } from '@tidemill/contract';

/** How the agent of one run reaches Tidemill. */
export interface RunDoor {
  url: string;
  token: string;
}

/** Gives agents access to the MCP server, each with a token for its own run. */
export interface RunAccess {
  /** The token is worthless after `close`. */
  open(run: RunBinding): { door: RunDoor; close(): void };
}
