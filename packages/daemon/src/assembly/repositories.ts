import type { Config, Project } from '@tidemill/contract';
import { assetDir } from '../assets.ts';
import type { DataFolder } from '../config/data-folder.ts';
import { stackOf } from '../config/detect/stack.ts';
import { loadSettings } from '../config/load.ts';
import type { LentWorkspace } from '../handlers/context.ts';
import { gotchaFile } from '../knowledge/gotcha-file.ts';
import type { Clock, Improvements } from '../ports.ts';
import { loadCategories } from '../prompts/categories.ts';
import { createPromptFiles } from '../prompts/prompt-files.ts';
import { createPrompts } from '../prompts/prompts.ts';
import { openWorkspace, type WorkspaceOptions } from '../workspace/workspace.ts';

export const promptsOf = ({ root }: Project) => createPrompts({ root, builtinDir: assetDir('prompts/agents') });
export const promptFilesOf = ({ root }: Project) => createPromptFiles({ root, builtinDir: assetDir('prompts') });
export const knowledgeOf = ({ root }: Project) => gotchaFile(root);

export const improvementsOf = ({ root }: Project): Improvements => ({
  categories: () => loadCategories({ root, builtinDir: assetDir('prompts/categories') }),
  stack: () => stackOf(root),
});

/** How commits are made and what is pushed. A pull request needs the task's branch at the remote. */
export function landingOf({ landing, push, pullRequest }: Config): Pick<WorkspaceOptions, 'landing' | 'push'> {
  return landing === 'pull_request' ? { landing: pullRequest.method, push: 'branch' } : { landing, push };
}

/** Opens the workspace of a project without an engine in this process, for a short time. */
export async function borrowWorkspace<T>(
  { id, root, rules }: Project,
  folder: DataFolder,
  clock: Clock,
  work: (workspace: LentWorkspace) => Promise<T>,
): Promise<T> {
  const { landing, push } = landingOf((await loadSettings(root)).config);
  const workspace = await openWorkspace({
    root,
    target: rules.target,
    landing,
    push,
    dataDir: folder.project(id),
    clock,
  });
  try {
    return await work(workspace);
  } finally {
    await workspace.close();
  }
}
