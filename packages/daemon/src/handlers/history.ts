import type { HistoryView, RouteRequest } from '@tidemill/contract';
import { projectOf } from './answer.ts';
import type { Services } from './context.ts';

export async function showHistory(services: Services, input: RouteRequest<'history'>): Promise<HistoryView> {
  return services.metrics.history(await projectOf(services, input.project), input.period);
}
