import {
  DEFAULT_ROUTING,
  type EventRouteRow,
  eventRouteRows,
  type RouteRequest,
  reactorRows,
} from '@tidemill/contract';
import type { Services } from '../context.ts';
import { projectOf } from '../find.ts';

export async function showRouting(services: Services, input: RouteRequest<'routing'>): Promise<EventRouteRow[]> {
  const { routing = DEFAULT_ROUTING } = (await projectOf(services, input.project)).rules;
  return input.all ? [...eventRouteRows(routing), ...reactorRows()] : eventRouteRows(routing);
}
