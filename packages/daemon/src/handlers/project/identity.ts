import { createHash } from 'node:crypto';
import type { Project } from '@tidemill/contract';
import { firstCommit, readMark, shareRepository, writeMark } from '../../git/project-mark.ts';
import type { Store } from '../../ports.ts';
import { unwrap } from '../find.ts';

/** Which project a repository is, or would be. */
export interface Identity {
  id: string;
  /** Null: it is not registered yet. */
  known: Project | null;
  /** It lay elsewhere until now. */
  isMoved: boolean;
  /** Another project that had its place before. */
  replaces: Project | null;
  /** Whether git's config is to name the project from now on. */
  isMarked: boolean;
}

/**
 * The mark in git's config says which project it is. It moves along with the repository; a clone has none, a copy has the
 * same, and all worktrees share one: so it counts only where no other folder with this mark is that project.
 */
export async function identityOf(store: Store, root: string): Promise<Identity> {
  const [mark, there] = await Promise.all([readMark(root), store.projectByRoot(root)]);
  if (there && mark === there.id) return { id: there.id, known: there, isMoved: false, replaces: null, isMarked: true };
  const marked = mark === null ? null : await store.project(mark);
  if (marked && (await readMark(marked.root)) !== mark)
    return { id: marked.id, known: marked, isMoved: true, replaces: there, isMarked: true };
  const isWorktree = marked !== null && (await shareRepository(root, marked.root));
  // A mark that this store does not know may be known to another.
  const own = { isMoved: false, isMarked: isWorktree || (mark !== null && marked === null) };
  if (there && (mark !== null || !(await isAnother(there, root))))
    return { ...own, id: there.id, known: there, replaces: null };
  const id = marked || mark === null ? await freeId(store, root, there) : mark;
  return { ...own, id, known: null, replaces: there };
}

/** Puts the project where its repository is, and marks the repository. */
export async function settleIdentity(store: Store, root: string, { id, known, ...found }: Identity): Promise<void> {
  // Its repository is gone or lies elsewhere: the place is free.
  if (found.replaces) await move(store, found.replaces, `${root} (replaced, ${found.replaces.id})`);
  if (known && found.isMoved) await move(store, known, root);
  if (!found.isMarked) await writeMark(root, id);
}

/** Another repository was put where the project's had been. Without its first commit nobody can know. */
async function isAnother({ firstCommit: expected }: Project, root: string): Promise<boolean> {
  const found = expected === null ? null : await firstCommit(root);
  return found !== null && found !== expected;
}

/** Derived from the root, so that two processes that register the same repository at once mean the same project. */
async function freeId(store: Store, root: string, replaced: Project | null): Promise<string> {
  for (let copy = 0; ; copy += 1) {
    const text = copy === 0 ? root : `${root}\0${copy}`;
    const id = `project_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
    const taken = await store.project(id);
    if (!taken || (taken.root === root && id !== replaced?.id)) return id;
  }
}

async function move(store: Store, { id: projectId }: Project, root: string): Promise<void> {
  unwrap(await store.execute({ type: 'project.move', projectId, root }));
}
