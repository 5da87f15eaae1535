import type { Project, ProjectStatus } from '@tidemill/contract';
import { createContext, type ReactNode, useContext } from 'react';
import { useNow } from '../time.ts';
import type { Liveness } from './live.ts';

/** What every page works with: the project that is looked at, and how it stands. */
export interface Shown {
  project: Project;
  status: ProjectStatus;
  /** When the status was true. */
  knownAt: number;
  connection: Liveness;
}

const Context = createContext<Shown | null>(null);
const Still = createContext<Project | null>(null);

export function ShownProject({ shown, children }: { shown: Shown; children: ReactNode }) {
  return (
    <Still.Provider value={shown.project}>
      <Context.Provider value={shown}>{children}</Context.Provider>
    </Still.Provider>
  );
}

/** For what stands in long lists: the status comes several times a second, the project stays as it is. */
export function useProject(): Project {
  const project = useContext(Still);
  if (!project) throw new Error('a page was drawn without its project');
  return project;
}

/** Only below a project: the frame shows pages once there is one. */
export function useShown(): Shown {
  const shown = useContext(Context);
  if (!shown) throw new Error('a page was drawn without its project');
  return shown;
}

/** For how long the status has been known: what ran then has run on since. */
export function useKnownMs(): number {
  const { knownAt } = useShown();
  return Math.max(0, useNow() - knownAt);
}
