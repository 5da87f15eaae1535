import type { Evidence, Project, Task } from '@tidemill/contract';
import { checkFence } from '../check-fence.ts';
import type { CommandOf, Decision } from '../command.ts';
import { passingEvidence, type Required } from '../gate/evidence.ts';
import { taskGates } from '../gate/task-gate.ts';
import { enter } from '../pipeline/enter.ts';
import { stageOf } from '../pipeline/stage.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { released } from '../work.ts';

/**
 *   merge stage ──prepare (evidence for this tree)──▶ prepared ──target moved to it: land──▶ done
 *                                                            └──target moved elsewhere: abandon──▶ merge stage
 * The candidate is recorded before the target moves. After a crash, recovery checks whether that commit is in the target.
 * The commits of a batch follow each other, and the target moves to the last one. Its tree is proven for all of them.
 */
export function prepareMerge(slice: Slice, command: CommandOf<'merge.prepare'>): Decision {
  const checked = checkFence(slice, command);
  if (!checked.ok) return checked;
  const { task, project } = checked;
  const misplaced = notMerging(project, task);
  if (misplaced) return misplaced;
  if (task.prepared && task.prepared.commit !== command.commit)
    return refuse('conflict', `${task.prepared.commit} may have landed already`, 'land it or abandon it first');
  const { commit, tree, base, batch } = command;
  const proven = batch?.tree ?? tree;
  const required = { gates: project.rules.gates, own: taskGates(task) };
  const evidence = passingEvidence(slice, project, proven, required);
  const unproven = notProven(required, proven, evidence);
  if (unproven) return unproven;
  return accept({
    type: 'merge.prepared',
    taskId: task.id,
    commit,
    tree,
    base,
    evidence: evidence.map((link) => link.hash),
    ...(batch && batch.commit !== commit ? { lands: batch.commit, proven } : {}),
  });
}

export function notMerging(project: Project, task: Task): Decision | null {
  const stage = stageOf(project.rules, task);
  if (stage?.actor === 'system' && stage.does === 'merge') return null;
  return refuse('wrong_stage', `#${task.number} is in ${task.stage}, not in a merge stage`);
}

function notProven({ gates, own }: Required, tree: string, evidence: Evidence[]): Decision | null {
  const missing = [...gates, ...own.map(({ name }) => name)].filter(
    (gate) => !evidence.some((link) => link.gate === gate),
  );
  if (missing.length === 0) return null;
  return refuse('evidence_missing', `tree ${tree} has not passed ${missing.join(', ')}`, 'run the gates on it first');
}

/** Others merge it. It stays in its stage until the target has it. */
export function offerBranch(slice: Slice, command: CommandOf<'merge.offer'>): Decision {
  const checked = checkFence(slice, command);
  if (!checked.ok) return checked;
  const { task, project } = checked;
  const { commit, tree, name } = command;
  const required = { gates: project.rules.gates, own: taskGates(task) };
  const refused =
    notMerging(project, task) ?? notProven(required, tree, passingEvidence(slice, project, tree, required));
  return refused ?? accept({ type: 'merge.offered', taskId: task.id, commit, tree, name });
}

export function abandonMerge(slice: Slice, command: CommandOf<'merge.abandon'>): Decision {
  const checked = checkFence(slice, command);
  if (!checked.ok) return checked;
  return accept({ type: 'merge.abandoned', taskId: command.subjectId, why: command.why });
}

export function landMerge(slice: Slice, command: CommandOf<'merge.land'>): Decision {
  const checked = checkFence(slice, command);
  if (!checked.ok) return checked;
  const { task, project } = checked;
  const stage = stageOf(project.rules, task);
  if (task.prepared?.commit !== command.commit || stage?.actor !== 'system' || stage.does !== 'merge')
    return refuse('wrong_stage', `${command.commit} was not prepared for #${task.number}`);
  const workers = (command.workers ?? []).filter((id) => slice.workers.get(id));
  const credit = workers.length > 0 ? { workers } : {};
  return accept(
    { type: 'merge.landed', taskId: task.id, commit: command.commit, tree: task.prepared.tree, ...credit },
    ...enter(slice, project.rules, task, { to: stage.on.approved, because: 'landed' }),
    released(task, 'landed'),
  );
}
