import { DEFAULT_ROUTING, type RouteRequest, type RouteRow, reactorRows, routeRows } from '@tidemill/contract';
import type { Services } from '../context.ts';
import { projectOf } from '../find.ts';

export async function showRouting(services: Services, input: RouteRequest<'routing'>): Promise<RouteRow[]> {
  const { routing = DEFAULT_ROUTING } = (await projectOf(services, input.project)).rules;
  return input.all ? [...routeRows(routing), ...reactorRows()] : routeRows(routing);
}
