import { AppError, type MetricsView, type RouteRequest } from '@tidemill/contract';
import type { Services } from '../context.ts';
import { projectOf } from '../find.ts';

export async function showMetrics(services: Services, input: RouteRequest<'metrics'>): Promise<MetricsView> {
  const project = await projectOf(services, input.project);
  const view = await services.machine.metrics.of(project, input.period);
  if (input.worker === undefined) return view;
  const workers = view.workers.filter(({ name }) => name === input.worker);
  if (workers.length > 0) return { ...view, workers };
  throw new AppError('not_found', `there is no worker ${input.worker}`, {
    hint: `The workers are ${view.workers.map(({ name }) => name).join(', ')}.`,
  });
}

/** Metrics of all projects for Prometheus. The library is loaded on first use. */
export async function prometheusText(services: Services): Promise<{ type: string; text: string }> {
  const { renderPrometheus } = await import('../../metrics/prometheus.ts');
  return renderPrometheus({ ...services, metrics: services.machine.metrics });
}
