import { execFile } from 'node:child_process';

const ANSWER_WITHIN_MS = 10_000;

/** The first line that `--version` prints, or null. */
export function versionOf(file: string): Promise<string | null> {
  return new Promise((resolve) => {
    execFile(file, ['--version'], { timeout: ANSWER_WITHIN_MS }, (error, stdout) =>
      resolve(error ? null : stdout.trim().split('\n')[0] || null),
    );
  });
}
