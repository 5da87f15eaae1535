import { createHash } from 'node:crypto';
import type { Project } from '@tidemill/contract';
import { firstCommit, readMark, shareRepository, writeMark } from '../../git/project-mark.ts';
import type { Store } from '../../ports.ts';
import { unwrap } from '../find.ts';

/** The project of a repository. */
export interface Identity {
  id: string;
  /** Null if it is not registered yet. */
  known: Project | null;
  /** The repository was moved. */
  isMoved: boolean;
  /** Another project that was registered with this root before. */
  replaces: Project | null;
  /** Whether the mark must be written to git's config. */
  isMarked: boolean;
}

/**
 * The mark in git's config names the project and moves with the repository. A clone has none, a copy has the same mark,
 * and all worktrees share one. So it counts only if no other folder with this mark is that project.
 */
export async function identityOf(store: Store, root: string): Promise<Identity> {
  const [mark, there] = await Promise.all([readMark(root), store.projectByRoot(root)]);
  if (there && mark === there.id) return { id: there.id, known: there, isMoved: false, replaces: null, isMarked: true };
  const marked = mark === null ? null : await store.project(mark);
  if (marked && (await readMark(marked.root)) !== mark)
    return { id: marked.id, known: marked, isMoved: true, replaces: there, isMarked: true };
  const isWorktree = marked !== null && (await shareRepository(root, marked.root));
  // An unknown mark may belong to another store.
  const own = { isMoved: false, isMarked: isWorktree || (mark !== null && marked === null) };
  if (there && (mark !== null || !(await isAnother(there, root))))
    return { ...own, id: there.id, known: there, replaces: null };
  const id = marked || mark === null ? await freeId(store, root, there) : mark;
  return { ...own, id, known: null, replaces: there };
}

/** Updates the project's root and marks the repository. */
export async function settleIdentity(store: Store, root: string, { id, known, ...found }: Identity): Promise<void> {
  // Its repository is gone or was moved, so the root is free.
  if (found.replaces) await move(store, found.replaces, `${root} (replaced, ${found.replaces.id})`);
  if (known && found.isMoved) await move(store, known, root);
  if (!found.isMarked) await writeMark(root, id);
}

/** Whether another repository replaced the project's. This cannot be detected without a first commit. */
async function isAnother({ firstCommit: expected }: Project, root: string): Promise<boolean> {
  const found = expected === null ? null : await firstCommit(root);
  return found !== null && found !== expected;
}

/** Derived from the root, so that two processes that register a repository at the same time get the same project. */
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
