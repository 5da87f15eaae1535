import type { Task } from '@tidemill/contract';
import { type ComingWork, comingText } from '@tidemill/core';
import type { Workspace } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { BriefingSources } from './briefing.ts';

/** Live tasks that are read, the newest first. */
const MOST_READ = 200;
/** And how many of them a change is compared with: a forecast must stay cheap. */
export const MOST_COMPARED = 50;

type Live = Task & { head: NonNullable<Task['head']> };

/** Tasks with a change that may still land, the newest first. */
export async function liveWork({ store, project }: Pick<EngineDeps, 'store' | 'project'>): Promise<Live[]> {
  const stages = Object.values(project.rules.pipelines).flatMap((pipeline) => Object.keys(pipeline.stages));
  const all = [...new Set([...stages, 'blocked', 'needs_info'])];
  const tasks = await store.tasks({ projectId: project.id, stages: all, newestFirst: true, limit: MOST_READ });
  return tasks.filter((task): task is Live => task.head !== null && task.stage !== 'done');
}

/** The coming conflicts in a task's row, with the titles of the others. */
export async function comingWork(
  { store, project }: Pick<BriefingSources, 'store' | 'project'>,
  { forecast }: Pick<Task, 'forecast'>,
): Promise<ComingWork[]> {
  const ids = forecast.flatMap(({ taskId }) => taskId ?? []);
  const tasks = ids.length === 0 ? [] : await store.tasks({ projectId: project.id, ids });
  const titles = new Map(tasks.map(({ id, title }) => [id, title]));
  return forecast.map((entry) => ({ ...entry, title: titles.get(entry.taskId ?? '') ?? '' }));
}

/**
 * What the agent of a run is told while it works. It hears of each other task once per run; those in its prompt count.
 */
export class ForecastNotice {
  readonly #deps: EngineDeps & { workspace: Pick<Workspace, 'forecast'> };
  readonly #task: Task;
  readonly #told: Set<string | null>;

  constructor(deps: EngineDeps, task: Task) {
    this.#deps = deps;
    this.#task = task;
    this.#told = new Set(task.forecast.map(({ taskId }) => taskId));
  }

  /** Compares the commit with the newest work of others. Returns what is new, or null. */
  async about(commit: string): Promise<string | null> {
    const { workspace, project, onNote } = this.#deps;
    try {
      const others = (await liveWork(this.#deps)).filter(({ id }) => id !== this.#task.id).slice(0, MOST_COMPARED);
      const forecast = await workspace.forecast(
        commit,
        others.map(({ head }) => head.commit),
      );
      if (!forecast) return null;
      const files = new Map(forecast.compared.map((each) => [each.commit, each.files]));
      const found = [
        { id: null, number: null, title: '', files: forecast.withTarget ?? [] },
        ...others.map(({ id, number, title, head }) => ({ id, number, title, files: files.get(head.commit) ?? [] })),
      ].filter((each) => each.files.length > 0 && !this.#told.has(each.id));
      for (const { id } of found) this.#told.add(id);
      const conflicts = found.map((each) => ({ ...each, fileCount: each.files.length }));
      return conflicts.length === 0 ? null : comingText(conflicts, project.rules.target);
    } catch (error) {
      // Only advice is missing. The merge stage finds every conflict.
      onNote(`the conflicts of #${this.#task.number} could not be foreseen`, error);
      return null;
    }
  }
}
