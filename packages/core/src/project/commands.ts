import type { ProjectRules } from '@tidemill/contract';
import { look } from '../lookup.ts';
import type { CommandParts } from '../noun.ts';
import { saveProject } from './project.ts';

export interface ProjectCommands {
  'project.register': { name: string; root: string; rules: ProjectRules; firstCommit?: string | null };
  'project.move': { root: string };
  'project.configure': { rules: ProjectRules };
}

const save = {
  scope: ({ projectId }: { projectId: string }) => [look('lockedProject', projectId)],
  decide: saveProject,
};

export const projectCommands: CommandParts<keyof ProjectCommands> = {
  'project.register': save,
  'project.move': save,
  'project.configure': save,
};
