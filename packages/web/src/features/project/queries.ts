import { skipToken, useQuery } from '@tanstack/react-query';
import type { AccessRole, MetricPeriod } from '@tidemill/contract';
import { api, every, soon } from '../../api.ts';

const POLL_MS = 15_000;
const PROJECTS_POLL_MS = 60_000;
const LANDED_SHOWN = 8;
/** The daemon gives out the same figures for two seconds, so those read right after a landing may lack it. */
const METRICS_POLL_MS = 10_000;

/** Those at work first, then the newest. */
export function useProjects() {
  return useQuery({
    queryKey: ['projects'],
    queryFn: async ({ signal, client }) => {
      const projects = await api.projects({}, soon(signal));
      // One needs no ranking, and the page is there a round trip sooner.
      if (projects.length < 2) return projects;
      const ranked = await Promise.all(
        projects.map(async (project) => {
          const status = await api.status({ project: project.id }, soon(signal));
          client.setQueryData(['status', project.id], status);
          return { project, running: status.running };
        }),
      );
      ranked.sort((a, b) => Number(b.running) - Number(a.running) || b.project.createdAt - a.project.createdAt);
      return ranked.map(({ project }) => project);
    },
    // Another project's events do not come here, so a new one is looked for.
    refetchInterval: every(PROJECTS_POLL_MS),
  });
}

/** What the person at this page may do. */
export function useRole(): AccessRole | undefined {
  const { data } = useQuery({
    queryKey: ['whoami'],
    queryFn: ({ signal }) => api.whoami({}, soon(signal)),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data?.role;
}

export function useStatus(project: string | undefined) {
  return useQuery({
    queryKey: ['status', project],
    queryFn: project === undefined ? skipToken : ({ signal }) => api.status({ project }, soon(signal)),
    refetchInterval: every(POLL_MS),
    // The tab's title tells how many tasks need a person, also while another tab is in front.
    refetchIntervalInBackground: true,
  });
}

/** The newest landings. */
export function useLanded(project: string) {
  return useQuery({
    queryKey: ['landed', project],
    queryFn: async ({ signal }) => {
      const events = await api.recentEvents({ project, types: ['merge.landed'], limit: LANDED_SHOWN }, soon(signal));
      return events.flatMap(({ at, body }) => (body.type === 'merge.landed' ? [{ at, ...body }] : []));
    },
  });
}

export function useMetrics(project: string, period: MetricPeriod) {
  return useQuery({
    queryKey: ['metrics', project, period],
    queryFn: ({ signal }) => api.metrics({ project, period }, soon(signal)),
    refetchInterval: every(METRICS_POLL_MS),
  });
}
