import { AppError, type Project, type ReleaseNotes, type RouteRequest } from '@tidemill/contract';
import { releaseText } from '@tidemill/core';
import { landedBetween } from '../../engine/delivery/contents.ts';
import type { LentWorkspace, Services } from '../context.ts';
import { projectOf } from '../find.ts';

/** What landed between two commits. Without `from`: since the last tag before `to`. Without `to`: the target. */
export async function showReleaseNotes(services: Services, input: RouteRequest<'releaseNotes'>): Promise<ReleaseNotes> {
  const project = await projectOf(services, input.project);
  return services.repositories.withWorkspace(project, async (workspace) => {
    const to = await named(workspace, project, input.to ?? (await workspace.targetCommit()));
    const since = input.from ?? (await workspace.tagBefore(to));
    const from = since === null ? null : await named(workspace, project, since);
    const sources = { projectId: project.id, store: services.store, workspace };
    const { tasks, others } = await landedBetween(sources, from, to);
    const title = input.to ?? 'Unreleased';
    return { from, to, tasks, others, markdown: releaseText(title, tasks, others) };
  });
}

async function named(workspace: LentWorkspace, { root }: Project, name: string): Promise<string> {
  const commit = await workspace.commitNamed(name);
  if (commit) return commit;
  throw new AppError('bad_input', `there is no commit, tag or branch ${name} in ${root}`, {
    hint: 'Name a tag such as v1.2.0, or a commit. `git tag` lists the tags.',
  });
}
