import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Project, RouteRequest, Task, WorktreeView } from '@tidemill/contract';
import type { Services } from '../context.ts';
import { projectOf } from '../find.ts';
import { worktreeOf } from './task-detail.ts';

/** A worktree with more entries is not counted to its end. */
const MOST_ENTRIES = 200_000;
const FINISHED = ['done', 'cancelled'];

/** The worktrees that exist, with their sizes. */
export async function listWorktrees(services: Services, input: RouteRequest<'worktrees'>): Promise<WorktreeView[]> {
  const project = await projectOf(services, input.project);
  const { byStage } = await services.store.workload(project.id);
  const stages = Object.keys(byStage).filter((stage) => !FINISHED.includes(stage));
  return worktreesIn(services, project, stages);
}

/** Also for `doctor`, which asks for those of blocked tasks alone. */
export async function worktreesIn(services: Services, project: Project, stages: string[]): Promise<WorktreeView[]> {
  const tasks = await services.store.tasks({ projectId: project.id, stages });
  const views: WorktreeView[] = [];
  for (const task of tasks.filter(({ fence }) => fence > 0)) {
    const path = await worktreeOf(services, project, task);
    if (path !== null) views.push({ ...about(task), path, ...(await sizeOf(path)) });
  }
  return views;
}

const about = ({ number, title, stage, blocked }: Task) => ({ number, title, stage, why: blocked?.reason ?? null });

/** The files below a folder. Links are not followed: an agent may have made them. */
async function sizeOf(folder: string): Promise<{ bytes: number; isCut: boolean }> {
  let bytes = 0;
  let entries = 0;
  for (const pending = [folder]; pending.length > 0; ) {
    const next = pending.pop()!;
    const open = await opendir(next).catch(() => null); // removed meanwhile, or not readable
    if (!open) continue;
    for await (const entry of open) {
      entries += 1;
      if (entries > MOST_ENTRIES) return { bytes, isCut: true };
      if (entry.isDirectory()) pending.push(join(next, entry.name));
      else if (entry.isFile()) bytes += (await stat(join(next, entry.name)).catch(() => null))?.size ?? 0;
    }
  }
  return { bytes, isCut: false };
}
