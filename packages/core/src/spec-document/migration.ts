/** A numbered migration of a database: `db/migrations/0004_users.up.sql`, `V4__users.sql`. */
interface Migration {
  folder: string;
  /** Without leading zeros. */
  number: string;
  /** `users`; two directions of one migration share it. */
  name: string;
  /** As written, for the next one: `0004`. */
  digits: string;
}

const NUMBERED = /^(?:[VUB](\d{1,14})_{1,2}|(\d{2,14})[_-])([a-z][^.]*)(?:\.[^/]*)?$/i;
const FOLDER = /(?:^|\/)(?:db_)?migrat\w*(?:\/|$)/i;

/** Null for every other file. Elsewhere equal numbers mean nothing. */
export function migrationOf(path: string): Migration | null {
  const at = path.lastIndexOf('/');
  const folder = at < 0 ? '' : path.slice(0, at);
  const file = path.slice(at + 1);
  const [, versioned, plain, name] = NUMBERED.exec(file) ?? [];
  const digits = versioned ?? (FOLDER.test(folder) ? plain : undefined);
  if (digits === undefined || name === undefined) return null;
  return { folder, number: digits.replace(/^0+(?=\d)/, ''), name: name.toLowerCase(), digits };
}

/** Another migration of the same folder with the same number. */
export function sameNumber(path: string, others: Iterable<string>): string | null {
  const own = migrationOf(path);
  if (!own) return null;
  for (const other of others) {
    const it = migrationOf(other);
    if (it && it.folder === own.folder && it.number === own.number && it.name !== own.name) return other;
  }
  return null;
}

/** A migration counts up; a date says when it was written. */
const LONGEST_COUNT = 6;

/** The next free number of each folder with numbered migrations, written like the highest. */
export function nextMigrations(paths: Iterable<string>): { folder: string; next: string }[] {
  const highest = new Map<string, string>();
  for (const path of paths) {
    const found = migrationOf(path);
    if (!found || found.digits.length > LONGEST_COUNT) continue;
    const before = highest.get(found.folder);
    if (before === undefined || Number(found.digits) > Number(before)) highest.set(found.folder, found.digits);
  }
  return [...highest]
    .map(([folder, digits]) => ({ folder, next: String(Number(digits) + 1).padStart(digits.length, '0') }))
    .sort((a, b) => (a.folder < b.folder ? -1 : 1));
}
