import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { DaemonInfo } from '@tidemill/contract';
import { z } from 'zod';
import type { DataFolder } from '../config/data-folder.ts';

/** How to reach the daemon of a data folder. Readable by its owner only: the token gives full access. */
const DaemonFile = DaemonInfo.extend({ token: z.string() });
export type DaemonFile = z.infer<typeof DaemonFile>;

/** Link that opens the page in a browser. It contains the token, so it must never be logged. */
export const pageLink = ({ url, token }: Pick<DaemonFile, 'url' | 'token'>) => `${url}/?token=${token}`;

export function writeDaemonFile({ daemonFile }: DataFolder, content: DaemonFile): void {
  const temporary = `${daemonFile}.${content.pid}`;
  writeFileSync(temporary, `${JSON.stringify(content)}\n`, { mode: 0o600 });
  renameSync(temporary, daemonFile);
}

/** Returns null when the file is missing or invalid. A killed daemon leaves its file behind. */
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
