import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { commitTree } from './capture.ts';
import type { GitContext } from './git-context.ts';

/**
 * A commit like another one, with the same parents and message, in which some files have another text. Only objects are
 * written, so nothing in the repository tells it from the real one, and git status is clean where it is checked out.
 */
export async function withTexts(
  context: GitContext,
  commit: string,
  texts: ReadonlyMap<string, string>,
  addition = '',
): Promise<{ commit: string; tree: string }> {
  const index = join(context.dataDir, 'index', `texts-${process.pid}-${context.next()}`);
  const env = { GIT_INDEX_FILE: index, GIT_WORK_TREE: context.dataDir };
  try {
    await context.git(['read-tree', commit], { env });
    const { stdout } = await context.git(['ls-files', '-s', '-z'], { env });
    const entries: string[] = [];
    for (const entry of stdout.split('\0')) {
      const [, mode = '', path = ''] = /^(\d+) \w+ \d+\t(.*)$/s.exec(entry) ?? [];
      const text = mode.startsWith('100') ? texts.get(path) : undefined;
      if (text === undefined) continue;
      // Without a path no filter of the repository runs.
      const { stdout: oid } = await context.git(['hash-object', '-w', '--stdin'], { input: Buffer.from(text) });
      entries.push(`${mode} ${oid.trim()}\t${path}\0`);
    }
    await context.git(['update-index', '-z', '--index-info'], { env, input: entries.join('') });
    const tree = (await context.git(['write-tree'], { env })).stdout.trim();
    const { stdout: about } = await context.git(['log', '-1', '--format=%P%x00%B', commit, '--']);
    const [parents = '', message = ''] = about.split('\0');
    const made = await commitTree(
      context,
      tree,
      parents.split(' ').filter(Boolean),
      `${message.trim() || 'Change'}${addition}`,
    );
    return { commit: made, tree };
  } finally {
    await rm(index, { force: true });
  }
}
