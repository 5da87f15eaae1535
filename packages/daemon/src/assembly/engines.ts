import type { Project } from '@tidemill/contract';
import type { DataFolder } from '../config/data-folder.ts';
import { AbsentEngine } from '../engine/absent-engine.ts';
import type { EmergencyOrder, EmergencyReport } from '../engine/project-work.ts';
import type { Engines, LentWorkspace } from '../handlers/context.ts';
import { refuseWithoutDaemon } from '../handlers/project/project.ts';
import { borrowWorkspace } from './repositories.ts';
import type { OpenedStore } from './store-address.ts';

/** The engines of a process, and the repositories they keep open. */
export interface ProcessEngines extends Engines {
  /** Null when no engine of this process has the project's repository open. */
  workspaceOf(project: Project): LentWorkspace | null;
}

/** For a process without engines. */
export class AbsentEngines implements ProcessEngines {
  readonly #opened: OpenedStore;
  readonly #folder: DataFolder;

  constructor(opened: OpenedStore, folder: DataFolder) {
    this.#opened = opened;
    this.#folder = folder;
  }

  of(project: Project): AbsentEngine {
    const { store, clock } = this.#opened;
    return new AbsentEngine({
      store,
      project,
      withWorkspace: (work) => borrowWorkspace(project, this.#folder, clock, work),
    });
  }

  workspaceOf(): null {
    return null;
  }

  async attach(): Promise<never> {
    return refuseWithoutDaemon('attach to');
  }

  async emergencyStop(order: EmergencyOrder, isElsewhere = (_: Project) => true): Promise<EmergencyReport[]> {
    const projects = await this.#opened.store.projects();
    return Promise.all(projects.filter(isElsewhere).map((project) => this.of(project).emergencyStop(order)));
  }
}
