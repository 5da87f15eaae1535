import { type Api, AppError, type Project, type RunBinding } from '@tidemill/contract';
import type { McpRole } from './roles.ts';

/** Who calls the tools, and what they reach. */
export interface Session {
  role: McpRole;
  /** It refuses what the caller may not do. A model makes these calls, so they decide nothing and are recorded as an agent's. */
  api: Api;
  /** For what a person said in a form. Null: a person cannot be asked through this connection. */
  person: Api | null;
  /** For the record. A token's own name, and an agent's run, are used instead where they are known. */
  by: string;
  /** Set for the agent of a run: it is bound to the run's project and task. */
  run: RunBinding | null;
  /** The project of a folder, or of the caller's place. */
  projectOf(root: string | undefined): Promise<Project>;
  /** The folder in which the caller may search log files; null where it has no access to files. */
  folderOf(project: Project): string | null;
}

/** The project around a folder, among the known ones: the innermost that contains it. */
export function projectAround(projects: Project[], folder: string): Project | null {
  const around = projects.filter(({ root }) => folder === root || folder.startsWith(`${root}/`));
  return around.sort((one, other) => other.root.length - one.root.length)[0] ?? null;
}

export function unknownProject(projects: Project[], folder: string | undefined): AppError {
  const roots = projects.slice(0, 10).map(({ root }) => root);
  return new AppError(
    'no_project',
    folder === undefined ? 'it is not clear which project is meant' : `${folder} is in no project of this daemon`,
    {
      hint:
        roots.length === 0
          ? 'Run `tidemill init` in a repository.'
          : `Give projectRoot one of: ${roots.join(', ')}${projects.length > 10 ? ', …' : ''}`,
    },
  );
}
