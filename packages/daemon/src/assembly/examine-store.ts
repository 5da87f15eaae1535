import { dirname, join } from 'node:path';
import type { Finding } from '@tidemill/contract';
import { openDataFolder } from '../config/data-folder.ts';
import { inspectStoreFile } from '../store/inspect.ts';
import { hasLostStore } from './store-address.ts';

const SHOWN = 3;

/**
 * What `doctor` says about a store file that cannot be used. It is read without being opened, so nothing changes. Null for a
 * sound file, and for a store in Postgres. `failure`: the file may be sound, but opening it failed.
 */
export async function examineDamagedStore(env: NodeJS.ProcessEnv, failure = ''): Promise<Finding[] | null> {
  if (env.DATABASE_URL) return null;
  const folder = openDataFolder(env);
  const { storeFile } = folder;
  const found = await inspectStoreFile(storeFile);
  if (!found) return null;
  const { faults, readable } = found;
  // A new store is an empty file for a moment.
  const isNew = readable.length === 0 && faults.join() === 'the file is empty' && !hasLostStore(folder);
  if (isNew || (faults.length === 0 && failure === '')) return null;
  const problem = (text: string, hint = ''): Finding => ({ level: 'problem', check: 'store', text, hint });
  const findings =
    faults.length === 0
      ? [
          problem(
            failure,
            'The file itself is sound. Make sure that the disk can be written to, and that the file is yours.',
          ),
        ]
      : faults.slice(0, SHOWN).map((fault) => problem(`${storeFile} is damaged: ${fault.split('\n')[0]}`));
  const left = readable.length > 0 ? `can be read: ${readable.join(', ')}` : 'nothing in it can be read';
  findings.push({ level: readable.length > 0 ? 'warning' : 'problem', check: 'store', text: left, hint: '' });
  return faults.length === 0 ? findings : [...findings, wayOn(storeFile)];
}

function wayOn(file: string): Finding {
  const kept = join(dirname(file), 'damaged');
  return {
    level: 'warning',
    check: 'store',
    text: 'nothing was changed, and what landed is in git. Put the file away first, then use a backup, or recover what is left:',
    hint: [
      `put away: mkdir ${kept} && mv ${file}* ${kept}/`,
      `backup: copy your own backup of store.db to ${file}`,
      `recover: sqlite3 ${join(kept, 'store.db')} .recover | sqlite3 ${file}`,
      'then: `tidemill doctor --repair`. With neither, `tidemill up` begins with an empty store',
    ].join('\n'),
  };
}
