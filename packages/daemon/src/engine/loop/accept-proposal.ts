import type { Actor, Project, Proposal, Task } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import type { Ids, Store } from '../../ports.ts';
import { executeTogether } from '../flows/atomic.ts';

/** Less urgent than what people add. */
const PRIORITY = 3;

/** Makes a task of a proposal, both in one transaction: two approvals make one task. Throws the refusal. */
export async function acceptProposal(
  { store, ids, project }: { store: Store; ids: Ids; project: Pick<Project, 'id'> },
  proposal: Proposal,
  by: Actor,
): Promise<Task> {
  const { id: projectId } = project;
  const { id: proposalId, categoryId } = proposal;
  const taskId = ids.next('task');
  const dependsOn = await dependenciesOf(store, projectId, proposal);
  const commands: Command[] = [
    { type: 'task.create', projectId, taskId, dependsOn, ...taskOf(proposal) },
    { type: 'proposal.accept', projectId, proposalId, categoryId, taskId, by },
  ];
  await executeTogether(store, commands);
  return (await store.task(taskId))!;
}

function taskOf({ id, category, draft }: Proposal) {
  const { title, description, approach, criteria, files, newFiles } = draft;
  const steps = approach.trim() === '' ? '' : `\n\n## Approach\n\n${approach.trim()}`;
  return {
    title,
    body: `${description.trim()}${steps}`,
    kind: 'improvement' as const,
    accept: criteria,
    files: [...new Set([...files, ...newFiles])],
    priority: PRIORITY,
    origin: { kind: 'loop' as const, id, category },
  };
}

async function dependenciesOf(store: Store, projectId: string, { draft }: Proposal): Promise<string[]> {
  const numbers = draft.dependencies.flatMap((name) => /^#(\d+)$/.exec(name)?.[1] ?? []).map(Number);
  if (numbers.length === 0) return [];
  return (await store.tasks({ projectId, numbers })).map(({ id }) => id);
}
