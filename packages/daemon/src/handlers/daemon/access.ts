import type { NamedToken, RouteRequest } from '@tidemill/contract';
import type { Call, Services } from '../context.ts';

export async function whoami(_services: Services, _input: object, _signal: AbortSignal, { caller }: Call) {
  const { name, role } = caller;
  return { name, role };
}

export async function listTokens({ people }: Services): Promise<NamedToken[]> {
  return people.access.list();
}

export async function addToken({ people }: Services, { name, role }: RouteRequest<'addToken'>) {
  return people.access.add(name, role);
}

export async function revokeToken({ people }: Services, { name }: RouteRequest<'revokeToken'>) {
  return people.access.revoke(name);
}
