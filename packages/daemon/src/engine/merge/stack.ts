import { agreedContents, taskGates } from '@tidemill/core';
import type { Candidate } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import type { BuiltWork, Prover } from '../stages/prove.ts';
import type { LeasedTask } from '../workers/leased-work.ts';
import type { Batch } from './batch.ts';
import { isHeld } from './push-proven.ts';

type Clean = Extract<Candidate, { kind: 'clean' }>;

/** One task on top of the target and of the tasks before it. */
export interface Layer {
  member: LeasedTask;
  tree: string;
  /** The files that this task changes. */
  files: string[];
  /** A commit of the tree, to be proven. It never lands. */
  trial: string;
}

/** The tasks of a batch on top of each other. Proving a layer proves it together with all layers below. */
export interface Stack {
  /** The target's commit. */
  base: string;
  layers: Layer[];
}

/**
 * Puts the tasks on top of each other, in their order. A task that conflicts with one before it leaves the batch, and a
 * task that a person must look at waits for that person.
 */
export async function stackUp(deps: EngineDeps, batch: Batch, first: Clean, prover: Prover): Promise<Stack> {
  const { workspace } = deps;
  const stack: Stack = { base: first.base, layers: [] };
  for (const member of batch.members) {
    const below = stack.layers.at(-1)?.trial;
    const candidate = member === batch.head ? first : await workspace.candidate(member.ref, below ?? first.base);
    if (candidate.kind !== 'clean') {
      await batch.release(member, candidate.kind === 'empty' ? 'nothing to add' : 'conflicts within the batch');
      continue;
    }
    const { tree, base, files } = candidate;
    if (await isHeld(deps, member, { tree, base }, prover)) {
      batch.drop(member);
      // Without the first one there is no base to go on from.
      if (member === batch.head) return { ...stack, layers: [] };
      continue;
    }
    const { head, number } = member.task;
    const isOwnTree = stack.layers.length === 0 && batch.members.length === 1 && head?.tree === tree;
    const trial = isOwnTree ? head.commit : await workspace.seal(member.ref, { tree, base }, `Candidate of #${number}`);
    stack.layers.push({ member, tree, files, trial });
  }
  return stack;
}

/** The lowest layers, as work to prove. */
export function workOf({ base, layers }: Stack, count: number): BuiltWork {
  const { trial, tree } = layers[count - 1]!;
  const files = [...new Set(layers.slice(0, count).flatMap((layer) => layer.files))];
  const agreed = layers.slice(0, count).flatMap(({ member }) => agreedContents(member.task));
  const own = layers.slice(0, count).flatMap(({ member }) => taskGates(member.task));
  return { commit: trial, tree, files, base, agreed, own };
}
