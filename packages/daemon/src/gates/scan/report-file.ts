import { constants } from 'node:fs';
import { lstat, open, realpath, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

export const MOST_REPORT_BYTES = 30_000_000;

/**
 * Removes a report that is there before its tool runs: an agent could have committed one. Null, or why that is not possible.
 * The folder may be a link that an agent made, and nothing outside the checkout is touched.
 */
export async function clearReport(folder: string, report: string): Promise<string | null> {
  const path = join(folder, report);
  const fault = await outsideFault(folder, path);
  if (fault !== null) return fault;
  const found = await lstat(path).catch(() => null);
  if (found?.isDirectory()) return `${report} is a folder`;
  if (found) await rm(path);
  return null;
}

export async function readReportFile(folder: string, report: string): Promise<{ text: string } | { unusable: string }> {
  const path = join(folder, report);
  const fault = await outsideFault(folder, path);
  if (fault !== null) return { unusable: fault };
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => null);
  if (!file) return { unusable: `there is no ${report} after the run` };
  try {
    const { size } = await file.stat();
    if (!(await file.stat()).isFile()) return { unusable: `${report} is not a file` };
    if (size > MOST_REPORT_BYTES) return { unusable: `${report} has more than ${MOST_REPORT_BYTES / 1e6} MB` };
    return { text: await file.readFile('utf8') };
  } finally {
    await file.close();
  }
}

async function outsideFault(folder: string, path: string): Promise<string | null> {
  const [root, parent] = await Promise.all([realpath(folder), realpath(dirname(path)).catch(() => null)]);
  if (parent === null) return null;
  const way = relative(root, parent);
  return way === '..' || way.startsWith('../') ? `${relative(folder, dirname(path))} leads out of the checkout` : null;
}
