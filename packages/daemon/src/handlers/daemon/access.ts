import type { NamedToken, RouteRequest } from '@tidemill/contract';
import type { Call, Services } from '../context.ts';

export async function whoami(_services: Services, _input: object, _signal: AbortSignal, { caller }: Call) {
  const { name, role } = caller;
  return { name, role };
}

export async function listTokens({ access }: Services): Promise<NamedToken[]> {
  return access.list();
}

export async function addToken({ access }: Services, { name, role }: RouteRequest<'addToken'>) {
  return access.add(name, role);
}

export async function revokeToken({ access }: Services, { name }: RouteRequest<'revokeToken'>) {
  return access.revoke(name);
}
