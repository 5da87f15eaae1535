import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError, type Config, ideaRef, type Project } from '@tidemill/contract';
import { ideaFolder } from '@tidemill/core';
import { assetDir } from '../assets.ts';
import { readProfile } from '../config/profile.ts';
import type { IdeaFileText, Ideation, KeptFiles } from '../ports.ts';
import type { ChildHost } from '../process/child.ts';
import { readPhase } from '../prompts/phases.ts';
import { createSearch } from '../research/search.ts';
import type { GitWorkspace } from '../workspace/workspace.ts';

export interface IdeationParts {
  project: Project;
  config: Config;
  workspace: GitWorkspace;
  dataDir: string;
  host: ChildHost;
  onNote(text: string): void;
}

export function createIdeation({ project, config, workspace, dataDir, host, onNote }: IdeationParts): Ideation {
  const { root } = project;
  const search = createSearch({ config: config.research, host, env: process.env });
  return {
    phasePrompt: (phase) => readPhase(phase, root, assetDir('prompts/phases')),
    async profileOf(person) {
      try {
        return await readProfile(root, person);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        onNote(`the profile is not used: ${error.message}`);
        return [];
      }
    },
    keep: (idea, files) =>
      config.ideas.keep === 'data'
        ? writeFolder(join(dataDir, 'ideas', idea.slug), files)
        : workspace.commitToBranch({
            branch: `idea/${idea.slug}`,
            folder: ideaFolder(idea),
            files,
            message: `Keep idea ${ideaRef(idea.number)}: ${idea.title}`.slice(0, 200),
          }),
    ...(search ? { search } : {}),
  };
}

/** Writes what changed and removes what is no longer there. */
async function writeFolder(folder: string, files: readonly IdeaFileText[]): Promise<KeptFiles> {
  await mkdir(folder, { recursive: true });
  const before = await readdir(folder);
  let isChanged = false;
  for (const { name, text } of files) {
    const file = join(folder, name);
    if (before.includes(name) && (await readFile(file, 'utf8')) === text) continue;
    isChanged = true;
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
  }
  const gone = before.filter((name) => !files.some((each) => each.name === name));
  for (const name of gone) await rm(join(folder, name), { force: true });
  return { kind: isChanged || gone.length > 0 ? 'kept' : 'unchanged' };
}
