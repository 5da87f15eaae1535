import type { Project, ProjectStatus } from '@tidemill/contract';
import { createContext, type ReactNode, useContext } from 'react';
import { useNow } from '../time.ts';
import type { Liveness } from './live.ts';

/** The current project and its status, used by every page. */
export interface Shown {
  project: Project;
  status: ProjectStatus;
  /** When the status was received. */
  knownAt: number;
  connection: Liveness;
}

const Context = createContext<Shown | null>(null);
const ProjectContext = createContext<Project | null>(null);

export function ShownProject({ shown, children }: { shown: Shown; children: ReactNode }) {
  return (
    <ProjectContext.Provider value={shown.project}>
      <Context.Provider value={shown}>{children}</Context.Provider>
    </ProjectContext.Provider>
  );
}

/** For long lists: unlike the status, the project does not change several times a second. */
export function useProject(): Project {
  const project = useContext(ProjectContext);
  if (!project) throw new Error('a page was rendered without its project');
  return project;
}

/** Only inside `ShownProject`. */
export function useShown(): Shown {
  const shown = useContext(Context);
  if (!shown) throw new Error('a page was rendered without its project');
  return shown;
}

/** The age of the status, to be added to the elapsed times in it. */
export function useKnownMs(): number {
  const { knownAt } = useShown();
  return Math.max(0, useNow() - knownAt);
}
