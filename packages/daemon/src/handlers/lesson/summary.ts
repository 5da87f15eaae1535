import type { MemorySummary, RouteRequest } from '@tidemill/contract';
import { summarise } from '../../engine/learning/summary.ts';
import type { Services } from '../context.ts';
import { projectOf } from '../find.ts';

export async function showSummary(services: Services, input: RouteRequest<'memorySummary'>): Promise<MemorySummary> {
  const { id } = await projectOf(services, input.project);
  return summarise(services.store, id, input.until ?? services.clock.now());
}
