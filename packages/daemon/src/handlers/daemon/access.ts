import { actorOf, type NamedToken, type RouteRequest } from '@tidemill/contract';
import { userName } from '../../process/user-name.ts';
import type { Call, Services } from '../context.ts';

export async function whoami(_services: Services, _input: object, _signal: AbortSignal, { caller }: Call) {
  const { name, role } = caller;
  return { name, role, person: name ?? userName(process.env) };
}

export async function listTokens({ people }: Services): Promise<NamedToken[]> {
  return people.access.list();
}

export async function addToken(
  { people }: Services,
  { name, role }: RouteRequest<'addToken'>,
  _signal: AbortSignal,
  { caller }: Call,
) {
  return people.access.add(name, role, actorOf(caller, 'person'));
}

export async function revokeToken(
  { people }: Services,
  { name }: RouteRequest<'revokeToken'>,
  _signal: AbortSignal,
  { caller }: Call,
) {
  return people.access.revoke(name, actorOf(caller, 'person'));
}
