import { AppError, type RouteRequest } from '@tidemill/contract';
import type { Services } from '../context.ts';
import { projectOf } from '../find.ts';

export async function listSnapshots(services: Services, input: RouteRequest<'snapshots'>) {
  const project = await projectOf(services, input.project);
  return services.repositories.withWorkspace(project, (workspace) => workspace.snapshots());
}

export async function restoreSnapshot(services: Services, input: RouteRequest<'restoreSnapshot'>) {
  const project = await projectOf(services, input.project);
  return services.repositories.withWorkspace(project, async (workspace) => {
    const all = await workspace.snapshots();
    const found = all.filter(
      ({ ref, commit }) => ref === input.ref || ref.endsWith(`/${input.ref}`) || commit.startsWith(input.ref),
    );
    const [snapshot] = found;
    if (!snapshot) {
      throw new AppError('not_found', `there is no snapshot "${input.ref}"`, {
        hint: '`tidemill snapshots` lists them; name one by its ref or the first digits of its commit.',
      });
    }
    if (new Set(found.map(({ commit }) => commit)).size > 1) {
      throw new AppError('bad_input', `"${input.ref}" matches ${found.length} snapshots`, {
        hint: 'Give more of the ref or of the commit.',
      });
    }
    await workspace.restoreSnapshot(snapshot.ref, input.to);
    return { ref: snapshot.ref, to: input.to };
  });
}
