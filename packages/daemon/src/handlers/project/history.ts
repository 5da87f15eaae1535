import type { HistoryView, RouteRequest } from '@tidemill/contract';
import type { Services } from '../context.ts';
import { projectOf } from '../find.ts';

export async function showHistory(services: Services, input: RouteRequest<'history'>): Promise<HistoryView> {
  return services.machine.metrics.history(await projectOf(services, input.project), input.period);
}
