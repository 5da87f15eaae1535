import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { DaemonInfo } from '@tidemill/contract';
import { z } from 'zod';
import type { DataFolder } from '../config/data-folder.ts';

/** How to reach the daemon of a data folder. Readable by its owner only: whoever has the token has the daemon. */
const DaemonFile = DaemonInfo.extend({ token: z.string() });
export type DaemonFile = z.infer<typeof DaemonFile>;

/** Opens the page in a browser. It holds the token, so it is for the person's own eyes: never for a log. */
export const pageLink = ({ url, token }: Pick<DaemonFile, 'url' | 'token'>) => `${url}/?token=${token}`;

export function writeDaemonFile({ daemonFile }: DataFolder, content: DaemonFile): void {
  const temporary = `${daemonFile}.${content.pid}`;
  writeFileSync(temporary, `${JSON.stringify(content)}\n`, { mode: 0o600 });
  renameSync(temporary, daemonFile);
}

/** Null when there is none, or what is there cannot be one; a daemon that was killed leaves its file behind. */
export function readDaemonFile({ daemonFile }: DataFolder): DaemonFile | null {
  try {
    return DaemonFile.parse(JSON.parse(readFileSync(daemonFile, 'utf8')));
  } catch {
    return null;
  }
}

export function removeDaemonFile(folder: DataFolder): void {
  rmSync(folder.daemonFile, { force: true });
}
