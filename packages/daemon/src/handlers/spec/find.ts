import { AppError, type Spec, type SpecVersion, specVersionId } from '@tidemill/contract';
import type { Services } from '../context.ts';

export async function versionOf({ store }: Pick<Services, 'store'>, spec: Spec, version: number): Promise<SpecVersion> {
  const found = await store.record('spec_version', specVersionId(spec.id, version));
  if (found) return found;
  const has = spec.version === 0 ? 'has no version yet' : `has the versions 1 to ${spec.version}`;
  throw new AppError('not_found', `there is no version ${version} of S${spec.number}`, { hint: `It ${has}.` });
}
