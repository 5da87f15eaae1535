import { skipToken, useQuery } from '@tanstack/react-query';
import type { AccessRole, MetricPeriod } from '@tidemill/contract';
import { api, every, withTimeout } from '../../api.ts';

const POLL_MS = 15_000;
const PROJECTS_POLL_MS = 60_000;
const LANDED_SHOWN = 8;
/** The daemon caches figures for two seconds, so they may miss the latest landing. */
const METRICS_POLL_MS = 10_000;

/** Running projects first, then the newest. */
export function useProjects() {
  return useQuery({
    queryKey: ['projects'],
    queryFn: async ({ signal, client }) => {
      const projects = await api.projects({}, withTimeout(signal));
      // A single project needs no ranking, which saves a round trip.
      if (projects.length < 2) return projects;
      const ranked = await Promise.all(
        projects.map(async (project) => {
          const status = await api.status({ project: project.id }, withTimeout(signal));
          client.setQueryData(['status', project.id], status);
          return { project, running: status.running };
        }),
      );
      ranked.sort((a, b) => Number(b.running) - Number(a.running) || b.project.createdAt - a.project.createdAt);
      return ranked.map(({ project }) => project);
    },
    // Events of other projects do not arrive here, so poll for new projects.
    refetchInterval: every(PROJECTS_POLL_MS),
  });
}

const useSelf = () =>
  useQuery({
    queryKey: ['whoami'],
    queryFn: ({ signal }) => api.whoami({}, withTimeout(signal)),
    staleTime: Number.POSITIVE_INFINITY,
  }).data;

/** The role of the person at this page. */
export const useRole = (): AccessRole | undefined => useSelf()?.role;

/** The name of the person at this page, for the log. */
export const usePersonName = (): string => useSelf()?.person ?? 'page';

export function useStatus(project: string | undefined) {
  return useQuery({
    queryKey: ['status', project],
    queryFn: project === undefined ? skipToken : ({ signal }) => api.status({ project }, withTimeout(signal)),
    refetchInterval: every(POLL_MS),
    // The tab's title shows what needs a person, also in the background.
    refetchIntervalInBackground: true,
  });
}

/** The newest landings. */
export function useLanded(project: string) {
  return useQuery({
    queryKey: ['landed', project],
    queryFn: async ({ signal }) => {
      const events = await api.recentEvents(
        { project, types: ['merge.landed'], limit: LANDED_SHOWN },
        withTimeout(signal),
      );
      return events.flatMap(({ at, body }) => (body.type === 'merge.landed' ? [{ at, ...body }] : []));
    },
  });
}

export function useMetrics(project: string, period: MetricPeriod) {
  return useQuery({
    queryKey: ['metrics', project, period],
    queryFn: ({ signal }) => api.metrics({ project, period }, withTimeout(signal)),
    refetchInterval: every(METRICS_POLL_MS),
  });
}
