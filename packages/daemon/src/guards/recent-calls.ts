import { readFile } from 'node:fs/promises';
import { CallEntry } from '@tidemill/contract';
import type { CallLog } from '../ports.ts';
import { appendCall, callFile } from './call-log.ts';

interface CallLogOptions {
  root: string;
  dataDir: string;
  onNote(text: string, error?: unknown): void;
}

/** The list of calls of one repository, shared with the hook of a person's own sessions. */
export function createCallLog({ root, dataDir, onNote }: CallLogOptions): CallLog {
  const file = callFile(dataDir, root);
  let isTold = false;
  return {
    record(entry) {
      try {
        appendCall(file, entry);
        isTold = false;
      } catch (error) {
        if (!isTold) onNote('calls of agents are not recorded', error);
        isTold = true;
      }
    },
    async recent(limit) {
      const newest = entriesIn(await textOf(file)).reverse();
      if (newest.length >= limit) return newest.slice(0, limit);
      return [...newest, ...entriesIn(await textOf(`${file}.old`)).reverse()].slice(0, limit);
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

/** A line that was cut by a crash or changed by hand is left out: the list is a sample. */
function entriesIn(text: string): CallEntry[] {
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [CallEntry.parse(JSON.parse(line))];
    } catch {
      return [];
    }
  });
}
