import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { OwnSessions } from '../ports.ts';
import { knowledgeFile } from './session-answer.ts';

interface OwnSessionsOptions {
  root: string;
  dataDir: string;
}

/** The daemon's side of the hooks. */
export function createOwnSessions({ root, dataDir }: OwnSessionsOptions): OwnSessions {
  const file = knowledgeFile(dataDir, root);
  return {
    async tell(text) {
      if ((await textOf(file)) === text) return;
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      const temporary = `${file}.${process.pid}.tmp`;
      await writeFile(temporary, text, { mode: 0o600 });
      await rename(temporary, file);
    },
  };
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
