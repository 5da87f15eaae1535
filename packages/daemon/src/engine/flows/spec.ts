import type { Actor, Gotcha, Spec, SpecDraft } from '@tidemill/contract';
import { AppError, specVersionId } from '@tidemill/contract';
import { type Command, creationsOf, followUps } from '@tidemill/core';
import type { Ids, Knowledge, Store } from '../../ports.ts';
import { executeTogether } from './atomic.ts';

interface Tools {
  store: Store;
  ids: Ids;
  knowledge?: Knowledge;
}

/** What is known about each task of a document. */
export async function gotchasOf(
  knowledge: Knowledge | undefined,
  { tasks }: Pick<SpecDraft, 'tasks'>,
): Promise<Map<string, Gotcha[]>> {
  const found = new Map<string, Gotcha[]>();
  for (const task of tasks) found.set(task.id, (await knowledge?.gotchas(task)) ?? []);
  return found;
}

/** Approves a version and creates its tasks, in one transaction. */
export async function approveSpec(
  { store, ids, knowledge }: Tools,
  spec: Spec,
  { version, override, by }: { version: number; override: boolean; by: Actor },
): Promise<void> {
  const { id: specId, projectId } = spec;
  const row = await store.record('spec_version', specVersionId(specId, version));
  if (!row) throw new AppError('not_found', `S${spec.number} has no version ${version}`);
  const { links, commands } = creationsOf(spec, row.draft, await gotchasOf(knowledge, row.draft), () =>
    ids.next('task'),
  );
  const approval: Command = { type: 'spec.approve', projectId, specId, version, tasks: links, override, by };
  await executeTogether(store, [approval, ...(await jobCancels(store, spec, 'approved')), ...commands]);
}

/** Creates tasks for requirements that are not met. */
export async function extendSpec(
  { store, ids }: Tools,
  spec: Spec,
  { note, by }: { note: string; by: Actor },
): Promise<void> {
  const { id: specId, projectId } = spec;
  const row = await store.record('spec_version', specVersionId(specId, spec.approved?.version ?? spec.version));
  if (!row) throw new AppError('not_found', `S${spec.number} has no version ${spec.version}`);
  const { links, commands } = followUps(spec, row.draft, note, () => ids.next('task'));
  await executeTogether(store, [{ type: 'spec.extend', projectId, specId, tasks: links, by }, ...commands]);
}

/** Stops the work: its agent, and the tasks that no worker has begun. */
export async function stopSpec(
  store: Store,
  spec: Spec,
  { why, by, unstarted }: { why: string; by: Actor; unstarted: string[] },
): Promise<void> {
  const { id: specId, projectId } = spec;
  await executeTogether(store, [
    { type: 'spec.abort', projectId, specId, why, held: unstarted, by },
    ...(await jobCancels(store, spec, why)),
    ...unstarted.map((taskId): Command => ({ type: 'task.cancel', projectId, taskId, by, from: 'open' })),
  ]);
}

/** Ends the drafting for good. */
export async function rejectSpec(store: Store, spec: Spec, { why, by }: { why: string; by: Actor }): Promise<void> {
  const { id: specId, projectId } = spec;
  const rejected: Command = { type: 'spec.reject', projectId, specId, why, by };
  await executeTogether(store, [rejected, ...(await jobCancels(store, spec, why || 'rejected'))]);
}

async function jobCancels(store: Store, { id: subjectId, projectId }: Spec, why: string): Promise<Command[]> {
  const jobs = await store.records({ noun: 'job', parent: subjectId, isOpen: true });
  return jobs.map(({ id: jobId }): Command => ({ type: 'job.cancel', projectId, subjectId, jobId, why }));
}

/** Continues it: tasks that were held back are open again, and blocked ones are tried again. */
export async function resumeSpec(store: Store, spec: Spec, by: Actor): Promise<void> {
  const { id: specId, projectId, held } = spec;
  const ids = spec.tasks.map(({ taskId }) => taskId);
  const tasks = ids.length === 0 ? [] : await store.tasks({ projectId, ids });
  const stuck = tasks.filter(({ id, stage }) => stage === 'blocked' || (stage === 'cancelled' && held.includes(id)));
  await executeTogether(store, [
    { type: 'spec.resume', projectId, specId, by },
    ...stuck.map(({ id: taskId, stage }): Command => ({ type: 'task.retry', projectId, taskId, by, from: stage })),
  ]);
}
