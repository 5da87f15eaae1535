import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { DaemonFile } from '@tidemill/contract';
import type { DataFolder } from '../config/data-folder.ts';

/** Link that opens the page in a browser. It contains the token, so it must never be logged. */
export const pageLink = ({ url, token }: Pick<DaemonFile, 'url' | 'token'>) => `${url}/?token=${token}`;

/** Readable by its owner only: the token gives full access. */
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
