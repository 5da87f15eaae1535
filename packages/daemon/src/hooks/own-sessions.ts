import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { HookNote } from '@tidemill/contract';
import type { OwnSessions } from '../ports.ts';
import { bypassFile, takeBypass } from './bypass-file.ts';
import { provenFile } from './hook-evidence.ts';
import { noteFile } from './hook-record.ts';
import { knowledgeFile } from './session-answer.ts';
import { takeLines } from './taken-lines.ts';

interface OwnSessionsOptions {
  root: string;
  dataDir: string;
}

/** The daemon's side of the hooks. */
export function createOwnSessions({ root, dataDir }: OwnSessionsOptions): OwnSessions {
  const file = knowledgeFile(dataDir, root);
  return {
    async tell(text) {
      if ((await textOf(file)) !== text) await replace(file, text);
    },
    letPass: (guard, until, taskId) => replace(bypassFile(dataDir, root, guard, taskId), JSON.stringify({ until })),
    takePass: (guard, taskId, now) => takeBypass({ dataDir, root }, guard, now, taskId),
    async prove(hashes) {
      const file = provenFile(dataDir, root);
      const text = hashes.map((hash) => `${hash}\n`).join('');
      if ((await textOf(file)) !== text) await replace(file, text);
    },
    takeNotes: (keep) => takeLines(noteFile(dataDir, root), HookNote, keep),
  };
}

async function replace(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomUUID()}.tmp`;
  await writeFile(temporary, text, { mode: 0o600 });
  await rename(temporary, file);
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
