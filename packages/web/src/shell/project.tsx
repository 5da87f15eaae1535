import type { Project, ProjectStatus } from '@tidemill/contract';
import { createContext, type ReactNode, useContext } from 'react';
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

export function ShownProject({ shown, children }: { shown: Shown; children: ReactNode }) {
  return <Context.Provider value={shown}>{children}</Context.Provider>;
}

/** Only below a project: the frame shows pages once there is one. */
export function useShown(): Shown {
  const shown = useContext(Context);
  if (!shown) throw new Error('a page was drawn without its project');
  return shown;
}
