import { skipToken, useQuery } from '@tanstack/react-query';
import type { ProjectStatus, TaskSummary } from '@tidemill/contract';
import { api, soon } from '../../api.ts';

const POLL_MS = 15_000;
const FINISHED = ['done', 'cancelled'];
/** Bounds for a list that a person can read, whatever the project's size. */
const UNFINISHED_SHOWN = 1000;
const FINISHED_AMONG = 500;
const LANDED_SHOWN = 8;

/** Those at work first, then the newest. */
export function useProjects() {
  return useQuery({
    queryKey: ['projects'],
    queryFn: async ({ signal }) => {
      const projects = await api.projects({}, soon(signal));
      const ranked = await Promise.all(
        projects.map(async (project) => {
          const { running } = await api.status({ project: project.id }, soon(signal));
          return { project, running };
        }),
      );
      ranked.sort((a, b) => Number(b.running) - Number(a.running) || b.project.createdAt - a.project.createdAt);
      return ranked.map(({ project }) => project);
    },
  });
}

export function useStatus(project: string | undefined) {
  return useQuery({
    queryKey: ['status', project],
    queryFn: project === undefined ? skipToken : ({ signal }) => api.status({ project }, soon(signal)),
    refetchInterval: POLL_MS,
    // The tab's title tells how many tasks need a person, also while another tab is in front.
    refetchIntervalInBackground: true,
  });
}

/** Unfinished tasks by number, then the newest of the finished ones. */
export function useTasks(status: ProjectStatus) {
  const project = status.project.id;
  return useQuery({
    queryKey: ['tasks', project],
    queryFn: async ({ signal }): Promise<TaskSummary[]> => {
      const { tasks: counts, total } = await api.status({ project }, soon(signal));
      const stages = Object.keys(counts).filter((stage) => !FINISHED.includes(stage));
      const afterNumber = Math.max(0, total - FINISHED_AMONG);
      const [unfinished, finished] = await Promise.all([
        stages.length > 0 ? api.tasks({ project, stages, limit: UNFINISHED_SHOWN }, soon(signal)) : [],
        api.tasks({ project, stages: FINISHED, afterNumber, limit: FINISHED_AMONG }, soon(signal)),
      ]);
      // A task may have finished between the two answers; the later word counts.
      const ids = new Set(finished.map(({ id }) => id));
      return [...unfinished.filter(({ id }) => !ids.has(id)), ...finished.reverse()];
    },
  });
}

/** The newest landings, read from the end of the log backwards. */
export function useLanded(status: ProjectStatus) {
  const project = status.project.id;
  return useQuery({
    queryKey: ['landed', project],
    queryFn: async ({ signal }) => {
      const { lastSeq } = await api.status({ project }, soon(signal));
      for (let reach = 2000; ; reach *= 8) {
        const after = Math.max(0, lastSeq - reach);
        const found = [];
        for await (const { at, body } of api.events({ project, types: ['merge.landed'], after }, soon(signal))) {
          if (body.type === 'merge.landed') found.push({ at, ...body });
        }
        if (found.length >= LANDED_SHOWN || after === 0) return found.slice(-LANDED_SHOWN).reverse();
      }
    },
  });
}
