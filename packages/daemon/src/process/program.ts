import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * The file of a program, or why it cannot be started. Checked before the start, because a sandbox reports a missing
 * program only as its own failure.
 */
export async function findProgram(
  name: string,
  env: Record<string, string>,
  cwd: string,
): Promise<{ file: string } | { missing: string }> {
  const places = name.includes('/')
    ? [path.resolve(cwd, name)]
    : (env.PATH ?? '/usr/bin:/bin')
        .split(path.delimiter)
        .filter((folder) => folder !== '')
        .map((folder) => path.resolve(cwd, folder, name));
  let unusable = '';
  for (const file of places) {
    const found = await stat(file).catch(() => null);
    if (!found?.isFile()) continue;
    const mayRun = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (mayRun) return { file };
    unusable ||= file;
  }
  if (unusable) return { missing: `${unusable} is not executable (use chmod +x)` };
  return { missing: name.includes('/') ? `${places[0]} does not exist` : `there is no program ${name} on PATH` };
}
