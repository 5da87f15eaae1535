import { AppError, type Project, type Spec, type SpecVersion, specVersionId } from '@tidemill/contract';
import type { Services } from '../context.ts';

/** A specification by number (`3`, `S3`) or id. */
export async function specOf({ store }: Pick<Services, 'store'>, project: Project, ref: string): Promise<Spec> {
  const digits = /^s?(\d{1,9})$/i.exec(ref)?.[1];
  const found = digits
    ? (await store.records({ noun: 'spec', projectId: project.id })).find(({ number }) => number === Number(digits))
    : await store.record('spec', ref);
  if (found && found.projectId === project.id) return found;
  throw new AppError(
    'not_found',
    `there is no specification ${digits ? `S${digits}` : `"${ref}"`} in ${project.name}`,
    {
      hint: '`tidemill spec list` shows them all.',
    },
  );
}

export async function versionOf({ store }: Pick<Services, 'store'>, spec: Spec, version: number): Promise<SpecVersion> {
  const found = await store.record('spec_version', specVersionId(spec.id, version));
  if (found) return found;
  const has = spec.version === 0 ? 'has no version yet' : `has the versions 1 to ${spec.version}`;
  throw new AppError('not_found', `there is no version ${version} of S${spec.number}`, { hint: `It ${has}.` });
}
