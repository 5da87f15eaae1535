import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { nulList } from '../git/output.ts';
import { GitError } from '../git/program.ts';
import type { Pushed, RemoteState, RemoteTarget } from '../ports.ts';
import { mergeOnPaper, treeOf } from './candidate.ts';
import { commitTree } from './capture.ts';
import type { GitContext, RegisteredWorktree } from './git-context.ts';
import { pushLargeFiles } from './large-files.ts';
import { isAncestor, moveRefs } from './ref.ts';
import { moveTo, putBack, tipOf } from './snapshot.ts';

/** A remote that does not respond must not hold up work for long. */
const FETCH_LIMIT_MS = 30_000;
const PUSH_LIMIT_MS = 120_000;
const limitOf = ({ options }: GitContext, usualMs: number) => options.remoteLimitMs ?? usualMs;

/** The remote's target as fetched last. */
const fetchedRef = (context: GitContext) => `refs/tidemill/remote/fetched/${context.options.target}`;
/** The same, as known to contain no rewritten history. A commit that does not contain it was pushed by force. */
const acceptedRef = (context: GitContext) => `refs/tidemill/remote/accepted/${context.options.target}`;

/** The person's own credentials are used, but nobody is asked for one: no terminal, no window. */
const QUIET = { GIT_ASKPASS: '', SSH_ASKPASS: '', SSH_ASKPASS_REQUIRE: 'never', GCM_INTERACTIVE: 'never' };
const NO_PROMPT = ['-c', 'core.askPass=', '-c', 'credential.interactive=false'];

export interface Destination {
  remote: string;
  ref: string;
  name: RemoteTarget['name'];
}

/** Fetches the target's branch of its remote and compares it with the local target. Moves no branch. */
export async function fetchTarget(context: GitContext): Promise<RemoteState> {
  const from = await destination(context);
  if (!from) return { kind: 'none' };
  const { remote, ref, name } = from;
  const [known, fetched] = await context.resolver.resolve([
    `${acceptedRef(context)}^{commit}`,
    `${fetchedRef(context)}^{commit}`,
  ]);
  const before = (await broughtTogether(context, known, fetched)) ?? known ?? (await trackedBefore(context, from));
  try {
    await context.git(
      [...NO_PROMPT, 'fetch', '-q', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', remote].concat(
        `+${ref}:${fetchedRef(context)}`,
      ),
      { signal: AbortSignal.timeout(limitOf(context, FETCH_LIMIT_MS)), env: QUIET },
    );
  } catch (error) {
    const said = saidBy(error, `fetching from ${remote}`, limitOf(context, FETCH_LIMIT_MS));
    if (!/couldn't find remote ref|Remote branch .* not found/i.test(said))
      return { kind: 'unreachable', name, why: said };
    return before ? { kind: 'gone', name } : { kind: 'new', name };
  }
  const [commit, local] = await context.resolver.resolve([
    `${fetchedRef(context)}^{commit}`,
    `${context.targetRef}^{commit}`,
  ]);
  if (!commit || !local) return { kind: 'unreachable', name, why: `${name} has no commit` };
  const state = await compare(context, { commit, local, before });
  if (state !== 'rewritten' && known !== commit) await moveRefs(context, [{ ref: acceptedRef(context), to: commit }]);
  return { kind: state, name, commit, local };
}

async function compare(
  context: GitContext,
  { commit, local, before }: { commit: string; local: string; before: string | null },
) {
  if (commit === local) return 'same';
  if (await isAncestor(context.git, commit, local)) {
    // Commits that others removed by force are not pushed again while the local target has them.
    const isRemoved = before !== null && before !== commit && (await isAncestor(context.git, commit, before));
    return isRemoved && (await isAncestor(context.git, before, local)) ? 'rewritten' : 'ahead';
  }
  if (await isAncestor(context.git, local, commit)) return 'behind';
  return before && !(await isAncestor(context.git, before, commit)) ? 'rewritten' : 'diverged';
}

/** A person has merged the history that was pushed by force: it counts from now on. */
async function broughtTogether(
  context: GitContext,
  known?: string | null,
  fetched?: string | null,
): Promise<string | null> {
  if (!fetched || fetched === known) return null;
  if (!(await isAncestor(context.git, fetched, await context.target()))) return null;
  // A part of the known history was in the target all the time, so that says nothing.
  return known && (await isAncestor(context.git, fetched, known)) ? null : fetched;
}

/** What the person's own fetch left, for the first time. */
async function trackedBefore(context: GitContext, { remote, ref }: Destination): Promise<string | null> {
  const [tracked] = await context.resolver.resolve([
    `refs/remotes/${remote}/${ref.replace('refs/heads/', '')}^{commit}`,
  ]);
  return tracked ?? null;
}

export async function isPublished(context: GitContext, commit: string): Promise<boolean> {
  if (!(await destination(context))) return false;
  const [fetched, known] = await context.resolver.resolve([`${fetchedRef(context)}^{commit}`, `${commit}^{commit}`]);
  return Boolean(fetched && known && (await isAncestor(context.git, known, fetched)));
}

/** Merges the remote's commit and the local target in the object database. Moves no branch. */
export async function joinRemote(context: GitContext, { name, commit }: RemoteTarget) {
  const base = await context.target();
  const merged = await mergeOnPaper(context, base, commit);
  if (merged.conflicts.length > 0) return { kind: 'conflict' as const, files: merged.conflicts };
  const message = `Merge ${name} into ${context.options.target}`;
  const joined = await commitTree(context, merged.tree, [base, commit], message);
  return { kind: 'clean' as const, commit: joined, tree: merged.tree, base };
}

/** A plain push of the commit to the remote's target. Never forced: a remote with other commits refuses it. */
export async function pushTarget(context: GitContext, commit: string): Promise<Pushed> {
  const to = context.options.push === 'target' ? await destination(context) : null;
  if (!to) return { kind: 'none' };
  const pushed = await push(context, to, `${commit}:${to.ref}`);
  if (pushed.kind === 'pushed')
    await moveRefs(context, [
      { ref: acceptedRef(context), to: commit },
      { ref: fetchedRef(context), to: commit },
    ]);
  return pushed;
}

/**
 * Pushes the task's branch for a pull request, with one commit on top that has the message and the proven tree. The
 * branch only grows, so that a later push never needs force.
 */
export async function pushBranch(
  context: GitContext,
  place: RegisteredWorktree,
  { tree, base, message }: { tree: string; base: string; message: string },
): Promise<{ pushed: Pushed; commit: string }> {
  await putBack(context, place, 'uncommitted work before the branch was pushed');
  const [{ tip }, to] = await Promise.all([tipOf(context, place), destination(context)]);
  const isDone = (await treeOf(context, tip)) === tree && (await messageOf(context, tip)) === message.trim();
  const commit = isDone ? tip : await commitOnTop(context, { tip, base }, tree, message);
  if (!isDone) {
    await moveTo(context, place, { commit, attached: true }, 'the target was merged');
    await moveRefs(context, [{ ref: place.tipRef, to: commit, from: tip }]);
  }
  return { pushed: to ? await push(context, to, `${commit}:refs/heads/${place.branch}`) : { kind: 'none' }, commit };
}

async function commitOnTop(
  context: GitContext,
  { tip, base }: { tip: string; base: string },
  tree: string,
  message: string,
): Promise<string> {
  const isIn = await isAncestor(context.git, base, tip);
  return commitTree(context, tree, isIn ? [tip] : [tip, base], message);
}

const messageOf = async (context: GitContext, commit: string) =>
  (await context.git(['show', '-s', '--format=%B', commit])).stdout.trim();

/** A command that talks to the remote, with a time limit and without asking anybody. */
export const runAtRemote = (context: GitContext, args: string[]) =>
  context.git([...NO_PROMPT, ...args], { signal: AbortSignal.timeout(limitOf(context, PUSH_LIMIT_MS)), env: QUIET });

export async function push(context: GitContext, { remote, name }: Destination, what: string): Promise<Pushed> {
  const [commit = '', ref = ''] = what.split(':');
  const limits = { signal: AbortSignal.timeout(limitOf(context, PUSH_LIMIT_MS)), env: QUIET };
  const missing = await pushLargeFiles(context, { remote, ref, commit }, limits);
  if (missing !== null) return { kind: 'unreachable', name, why: missing };
  try {
    await runAtRemote(context, ['push', '-q', '--no-verify', '--no-force', remote, what]);
    return { kind: 'pushed', name };
  } catch (error) {
    const why = saidBy(error, `pushing to ${remote}`, limitOf(context, PUSH_LIMIT_MS));
    if (/\[rejected\]/.test(why) || LOST_RACE.test(why)) return { kind: 'moved', name, why };
    return { kind: /\[remote rejected\]/.test(why) ? 'refused' : 'unreachable', name, why };
  }
}

/** Two pushes arrived at once, and the other one was first. */
const LOST_RACE =
  /\[remote rejected\].*\((?:cannot lock ref|failed to update ref|incorrect old value|reference already)/i;

function saidBy(error: unknown, doing: string, limitMs: number): string {
  if (error instanceof Error && error.name === 'AbortError') return `${doing} took longer than ${limitMs / 1000} s`;
  if (!(error instanceof GitError)) throw error;
  return `${doing} failed: ${error.stderr.trim()}`;
}

/** Where the target is fetched from and pushed to: where its branch comes from, else `origin`. */
export async function destination(context: GitContext): Promise<Destination | null> {
  if (context.options.push === 'never') return null;
  const { mtimeMs, size } = await stat(join(context.info.commonDir, 'config'));
  const stamp = `${mtimeMs} ${size}`;
  if (context.destination?.stamp !== stamp) context.destination = { stamp, found: await findDestination(context) };
  return context.destination.found;
}

export type FoundDestination = { stamp: string; found: Destination | null };

async function findDestination(context: GitContext): Promise<Destination | null> {
  const { stdout } = await context.git(
    ['config', '-z', '--get-regexp', '^(branch|remote)\\..*\\.(remote|merge|url)$'],
    {
      answers: [1],
    },
  );
  const settings = new Map(
    nulList(stdout).map((entry): [string, string] => {
      const end = entry.indexOf('\n');
      return [entry.slice(0, end), entry.slice(end + 1)];
    }),
  );
  const branch = `branch.${context.options.target}`;
  const own = settings.get(`${branch}.remote`);
  const at = (remote: string, ref: string) => ({ remote, ref, name: `${remote}/${ref.replace('refs/heads/', '')}` });
  if (own && own !== '.') return at(own, settings.get(`${branch}.merge`) ?? context.targetRef);
  return own !== '.' && settings.has('remote.origin.url') ? at('origin', context.targetRef) : null;
}
