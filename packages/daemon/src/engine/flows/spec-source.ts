import type { Idea, SpecSource } from '@tidemill/contract';
import { isBesideCode } from '@tidemill/core';
import type { Workspace } from '../../ports.ts';

/** Nothing is built there yet: the first specification also has to propose the skeleton and the gates. */
export async function isNewRepository(workspace: Pick<Workspace, 'filesAt' | 'targetCommit'>): Promise<boolean> {
  const files = await workspace.filesAt(await workspace.targetCommit(), ['**']);
  return files.every(([file]) => isBesideCode(file));
}

/** What a specification of an idea is made of; null without a brief. In a new repository the initializer writes it. */
export function briefOf({ id, title, artifacts }: Idea, isNew: boolean): SpecSource | null {
  const brief = artifacts.find(({ type, content, summary }) => type === 'brief' && content + summary !== '');
  if (!brief) return null;
  const text = `# ${title}\n\n${brief.content || brief.summary}`;
  return { kind: isNew ? 'initializer' : 'idea', ideaId: id, text };
}
