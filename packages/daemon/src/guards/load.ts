import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootKey } from './call-log.ts';
import type { Guard } from './guard.ts';

const GUARD_FOLDER = '.tidemill/guards';

export interface LoadedGuards {
  builtin: Guard[];
  /** The project's own. */
  own: Guard[];
}

interface GuardSource {
  root: string;
  builtinDir: string;
  /** A file of the project that is left out. */
  without?: string;
}

/** All guards, validated. A mistake in a project's file is an error with its line; nothing is skipped silently. */
export async function loadGuards({ root, builtinDir, without }: GuardSource): Promise<LoadedGuards> {
  // Loading the YAML parser takes longer than everything else, and `loadGuardsQuickly` rarely needs it.
  const { parseGuards, refuseDuplicates } = await import('./parse.ts');
  const read = (folder: string, label: string, isBuiltin: boolean) =>
    filesIn(folder)
      .filter((name) => isBuiltin || name !== without)
      .flatMap((name) => parseGuards(`${label}/${name}`, readFileSync(join(folder, name), 'utf8'), isBuiltin));
  const own = read(join(root, GUARD_FOLDER), GUARD_FOLDER, false);
  refuseDuplicates(own);
  let builtin: Guard[] | undefined;
  return {
    // Read when the first call is checked: the built-in files have no mistakes to report at the start.
    get builtin() {
      builtin ??= read(builtinDir, 'guards', true);
      return builtin;
    },
    own,
  };
}

/**
 * The same, cached in the data folder until a file changes: a hook runs before every tool of a person's session, and must
 * be fast.
 */
export async function loadGuardsQuickly(source: GuardSource, dataDir: string): Promise<LoadedGuards> {
  const stamp = stampOf(source);
  const file = join(dataDir, 'guards', `${rootKey(source.root)}.json`);
  const kept = readKept(file);
  if (kept?.stamp === stamp) return kept.guards;
  const guards = await loadGuards(source);
  keep(file, JSON.stringify({ stamp, guards }));
  return guards;
}

function filesIn(folder: string): string[] {
  return existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => /\.ya?ml$/.test(name))
        .sort()
    : [];
}

function stampOf({ root, builtinDir }: GuardSource): string {
  const lines = [builtinDir, join(root, GUARD_FOLDER)].flatMap((folder) =>
    filesIn(folder).map((name) => {
      const { size, mtimeMs, ctimeMs, ino } = statSync(join(folder, name));
      return `${folder}/${name} ${size} ${mtimeMs} ${ctimeMs} ${ino}`;
    }),
  );
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

function readKept(file: string): { stamp: string; guards: LoadedGuards } | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as { stamp: string; guards: LoadedGuards };
  } catch {
    return null; // missing or incomplete: it is created again
  }
}

function keep(file: string, text: string): void {
  try {
    mkdirSync(join(file, '..'), { recursive: true, mode: 0o700 });
    const temporary = `${file}.${process.pid}.tmp`;
    writeFileSync(temporary, text, { mode: 0o600 });
    renameSync(temporary, file);
  } catch {
    // Without a writable data folder the next load is slower, but still correct.
  }
}
