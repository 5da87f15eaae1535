import { hash } from 'node:crypto';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { assetDir } from '../assets.ts';
import { replaceFile, textOf } from './text-file.ts';

/** Commands of Claude Code: `/project-start` and `/project-create`. */
const FOLDER = '.claude/commands';

const Receipt = z.object({
  isFolderOurs: z.boolean(),
  /** What was installed, by file name. */
  files: z.record(z.string(), z.string()),
});
type Receipt = z.infer<typeof Receipt>;

export interface CommandFiles {
  root: string;
  dataDir: string;
}

/** What was done with each file, and why one was left alone. */
export interface CommandChanges {
  changed: string[];
  kept: { file: string; why: string }[];
}

/** Writes the commands. A file that a person wrote or changed is left alone. */
export function installCommands({ root, dataDir }: CommandFiles, texts = shippedTexts()): CommandChanges {
  const folder = join(root, FOLDER);
  const done: CommandChanges = { changed: [], kept: [] };
  const receipt = receiptOf(root, dataDir) ?? { isFolderOurs: !existsSync(folder), files: {} };
  for (const [name, text] of texts) {
    const file = `${FOLDER}/${name}`;
    const why = obstacleTo(root, name, receipt);
    if (why !== null) done.kept.push({ file, why });
    else if (textOf(join(root, file)) !== text) {
      receipt.files[name] = text;
      // Recorded first: what a crash leaves behind can be removed.
      replaceFile(receiptFile(root, dataDir), JSON.stringify(receipt), 0o600);
      mkdirSync(folder, { recursive: true });
      replaceFile(join(root, file), text, 0o644);
      done.changed.push(file);
    }
  }
  return done;
}

/** Removes what was installed, unless a person has changed it since. */
export function uninstallCommands({ root, dataDir }: CommandFiles): CommandChanges {
  const done: CommandChanges = { changed: [], kept: [] };
  const receipt = receiptOf(root, dataDir);
  if (!receipt) return done;
  for (const name of Object.keys(receipt.files)) {
    const file = `${FOLDER}/${name}`;
    if (textOf(join(root, file)) === null) continue;
    const why = obstacleTo(root, name, receipt);
    if (why !== null) done.kept.push({ file, why });
    else {
      rmSync(join(root, file));
      done.changed.push(file);
    }
  }
  const folder = join(root, FOLDER);
  if (receipt.isFolderOurs && existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
  rmSync(receiptFile(root, dataDir), { force: true });
  return done;
}

/** Why the file is a person's, or null. */
function obstacleTo(root: string, name: string, { files }: Receipt): string | null {
  for (const folder of ['.claude', FOLDER])
    if (lstatSync(join(root, folder), { throwIfNoEntry: false })?.isSymbolicLink()) return `${folder} is a link`;
  const found = lstatSync(join(root, FOLDER, name), { throwIfNoEntry: false });
  if (!found) return null;
  if (!found.isFile()) return 'it is not a regular file';
  const ours = files[name];
  if (ours === undefined) return 'it was there before';
  return readFileSync(join(root, FOLDER, name), 'utf8') === ours ? null : 'it was changed since it was installed';
}

function shippedTexts(): [name: string, text: string][] {
  const folder = assetDir('prompts/commands');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => [name, readFileSync(join(folder, name), 'utf8')]);
}

const receiptFile = (root: string, dataDir: string) =>
  join(dataDir, 'hooks', `commands-${hash('sha256', root).slice(0, 24)}.json`);

function receiptOf(root: string, dataDir: string): Receipt | null {
  const text = textOf(receiptFile(root, dataDir));
  if (text === null) return null;
  try {
    return Receipt.parse(JSON.parse(text));
  } catch {
    return null; // damaged: the files then count as a person's
  }
}
