import {
  agreedContents,
  type ChangedFile,
  checksApproval,
  isChecksApproved,
  isReviewed,
  workflowFiles,
} from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import { findDeciding } from '../stages/deciding.ts';
import { withFewerTests } from '../stages/fewer-tests.ts';
import { judgeWork } from '../stages/old-checks.ts';
import type { Prover } from '../stages/prove.ts';
import type { LeasedTask } from '../workers/leased-work.ts';

/**
 * If a task without review changes what gates check, holds it until a person approves. Checks the exact trees that
 * would land. The person is told what the target's versions of these files say about it. Returns true when the lease was
 * released.
 */
export async function holdForPerson(
  deps: EngineDeps,
  leased: LeasedTask,
  trees: { base: string; tree: string },
  prover: Prover,
): Promise<boolean> {
  if (isReviewed(deps.project.rules, leased.task)) return false;
  // A file of GitHub that a person agreed to push needs no second question.
  const agreed = agreedContents(leased.task);
  const isOpen = (file: ChangedFile) =>
    workflowFiles([file], deps.hash).every(({ content }) => !agreed.includes(content));
  const { deciding } = await findDeciding(deps, leased.ref, trees, isOpen);
  const files = [...deciding, ...(await withFewerTests(deps, [leased.task.head?.tree, trees.tree]))];
  if (files.length === 0 || isChecksApproved(leased.task, checksApproval(files, undefined, deps.hash))) return false;
  const oldChecks = (await judgeWork(deps, leased, prover, trees)) ?? undefined;
  const reply = await leased.execute({ type: 'stage.hold', files, oldChecks });
  if (!reply.ok) throw new Error(`stage.hold was refused: ${reply.refusal.message}`);
  return reply.task?.lease?.token !== leased.token;
}
