import { plainLine, plainText } from '@tidemill/contract';
import { nulList } from '../git/output.ts';
import type { PersonCommit, PersonCommitQuery, Rewrite } from '../ports.ts';
import { changesBetween } from './capture.ts';
import type { GitContext } from './git-context.ts';

/** A look reads no more than this, however busy a person was. */
const MOST_COMMITS = 100;
const MOST_FILES = 30;
const MOST_RANGES = 200;
const PATCH_BYTES = 200_000;
const SHOWN_PATCH = 1_500;

/** Commits that Tidemill made carry one of these. */
const OWN = /^(?:Evidence|Task): /m;

/** Implements `Workspace.handmadeCommits`. */
export async function commitsByPeople(
  context: GitContext,
  { since, landed, seen }: PersonCommitQuery,
): Promise<PersonCommit[]> {
  const format = '--format=%H%x00%ct%x00%an%x00%s%x00%b%x00%x00';
  const limit = `--max-count=${MOST_COMMITS}`;
  const { stdout } = await context.git(['log', '--no-merges', limit, format, await context.target(), '--']);
  const found = stdout.split('\0\0\n').flatMap((entry) => {
    const [commit = '', at = '', author = '', subject = '', body = ''] = entry.split('\0');
    const hash = commit.trim();
    if (hash === '' || OWN.test(body) || seen.has(hash) || Number(at) * 1000 < since) return [];
    const reverts = [...body.matchAll(/\breverts commit ([0-9a-f]{7,64})/gi)].map(([, name = '']) => name);
    const said = { author: plainLine(author).slice(0, 100), subject: plainLine(subject).slice(0, 300) };
    return [{ commit: hash, at: Number(at) * 1000, ...said, body: plainText(body).trim().slice(0, 2_000), reverts }];
  });
  if (found.length === 0 || landed.length === 0) return found.map((each) => ({ ...each, rewrites: [] }));
  const owners = await ownersOf(context, landed);
  const result: PersonCommit[] = [];
  for (const each of found) result.push({ ...each, rewrites: await rewritesIn(context, each.commit, owners) });
  return result;
}

interface Owners {
  /** The landed commit by each commit that it brought to the target: itself, or those of a merged branch. */
  landedOf: Map<string, string>;
  files: Set<string>;
}

async function ownersOf(context: GitContext, landed: readonly string[]): Promise<Owners> {
  const owners: Owners = { landedOf: new Map(), files: new Set() };
  for (const commit of landed) {
    const [known, parent] = await context.resolver.resolve([`${commit}^{commit}`, `${commit}^1^{commit}`]);
    if (!known || !parent) continue;
    const { stdout } = await context.git(['rev-list', '--max-count=100', known, `^${parent}`]);
    for (const own of stdout.split('\n').filter((line) => line !== '')) owners.landedOf.set(own, commit);
    for (const { path } of await changesBetween(context, parent, known)) owners.files.add(path);
  }
  return owners;
}

/** Whose lines a commit removed or replaced. */
async function rewritesIn(context: GitContext, commit: string, { landedOf, files }: Owners): Promise<Rewrite[]> {
  const [parent] = await context.resolver.resolve([`${commit}^1^{commit}`]);
  if (!parent) return [];
  const names = ['diff', '--name-only', '--no-renames', '--diff-filter=MD', '-z', parent, commit];
  const changed = nulList((await context.git(names)).stdout).filter((path) => files.has(path));
  const rewrites = new Map<string, Rewrite>();
  for (const path of changed.slice(0, MOST_FILES)) {
    const { patch, ranges } = await removedIn(context, parent, commit, path);
    if (ranges.length === 0) continue;
    const where = ranges.slice(0, MOST_RANGES).flatMap(([start, count]) => ['-L', `${start},+${count}`]);
    const { stdout } = await context.git(['blame', '--porcelain', ...where, parent, '--', path]);
    for (const [, hash = ''] of stdout.matchAll(/^([0-9a-f]{40,64}) \d+ \d+/gm)) {
      const landed = landedOf.get(hash);
      if (landed === undefined) continue;
      const rewrite = rewrites.get(landed) ?? { landed, files: [], lines: 0, patch: '' };
      rewrite.lines += 1;
      if (!rewrite.files.includes(path)) {
        rewrite.files.push(path);
        rewrite.patch = plainText(`${rewrite.patch}${path}\n${patch}`).slice(0, SHOWN_PATCH);
      }
      rewrites.set(landed, rewrite);
    }
  }
  return [...rewrites.values()];
}

/** The lines that a commit removed from a file, as ranges of the version before. */
async function removedIn(context: GitContext, parent: string, commit: string, path: string) {
  const flags = ['--unified=0', '--no-color', '--no-ext-diff', '--no-textconv', '--no-renames'];
  const { stdout } = await context.git(['diff', ...flags, parent, commit, '--', `:(literal)${path}`], {
    maxBytes: PATCH_BYTES,
    answers: [1],
  });
  const start = stdout.indexOf('\n@@ ');
  const patch = start < 0 ? '' : stdout.slice(start + 1);
  const ranges = [...patch.matchAll(/^@@ -(\d+)(?:,(\d+))? \+/gm)]
    .map(([, from, count = '1']): [number, number] => [Number(from), Number(count)])
    .filter(([, count]) => count > 0);
  return { patch, ranges };
}
