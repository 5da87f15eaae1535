import { taskGates } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import { withFewerTests } from '../stages/fewer-tests.ts';
import type { BuiltWork, Proof } from '../stages/prove.ts';
import { holdWorkflows } from '../stages/workflow-files.ts';
import type { Batch } from './batch.ts';
import { holdForPerson } from './hold-for-person.ts';
import type { Landed } from './land.ts';
import type { MergeTools, RoundEnd } from './merge-stage.ts';
import { landJudged } from './old-checks.ts';
import { sendBackWithTarget } from './send-back.ts';
import { type Stack, workOf } from './stack.ts';
import { blindGates, holdBlind } from './tripwire.ts';

/** A gate changed files of several tasks at once, so it cannot be said whose they are. */
class NotTogether extends Error {}

/**
 * Proves all layers as one tree. When it fails, finds the lowest layer with which it fails, lands what is below, and
 * sends the task of that layer back. The layers above are tried again in the next batch.
 */
export async function proveAndLand(deps: EngineDeps, batch: Batch, stack: Stack, tools: MergeTools): Promise<RoundEnd> {
  try {
    const landed = await land(deps, batch, stack, tools);
    return landed === 'again' ? 'again' : 'over';
  } catch (error) {
    if (!(error instanceof NotTogether)) throw error;
    await batch.close();
    return 'again';
  }
}

async function land(deps: EngineDeps, batch: Batch, stack: Stack, { prover, target }: MergeTools): Promise<Landed> {
  const { layers } = stack;
  const prove = (count: number, tries: 'twice' | 'once' | 'again') =>
    prover.prove(batch.head, workOf(stack, count), (tree) => repaired(deps, stack, tree), tries);
  const landLowest = (count: number) =>
    landSeen(deps, batch, { ...stack, layers: layers.slice(0, count) }, { prover, target }, prove);
  const passes = async (count: number) => (await prove(count, 'once')).kind === 'passed';
  const early = deps.provesEach ? await firstFailing(layers.length - 1, passes) : null;
  const whole = early === null ? await prove(layers.length, layers.length === 1 ? 'twice' : 'once') : null;
  if (whole?.kind === 'passed') {
    // A gate may have fixed files of the only layer.
    const top = { ...layers.at(-1)!, tree: whole.work.tree };
    const isFixed = top.tree !== layers.at(-1)!.tree;
    const trees = { base: stack.base, tree: top.tree };
    const isHeld =
      (isFixed && (await holdWorkflows(deps, top.member, trees))) ||
      // Only the proof says how many tests ran.
      (layers.length === 1 &&
        (await withFewerTests(deps, [top.tree])).length > 0 &&
        (await holdForPerson(deps, top.member, trees, prover)));
    if (isHeld) {
      batch.drop(top.member);
      return 'waiting';
    }
    const trial = isFixed ? whole.work.commit : top.trial;
    const proven = { ...stack, layers: [...layers.slice(0, -1), { ...top, trial }] };
    return landSeen(deps, batch, proven, { prover, target }, prove);
  }
  const red = early ?? (await firstRed(layers.length, passes));
  // The same code once more: a gate that passes now is flaky, and nobody is sent back for it.
  const proof = whole && layers.length === 1 ? whole : await prove(red, 'again');
  if (proof.kind === 'passed') return landLowest(red);
  const below = layers.slice(0, red - 1).map(({ member }) => member);
  // The agent reproduces the failure on the target, so the others land first.
  const landed = below.length > 0 ? await landLowest(below.length) : 'landed';
  if (landed !== 'landed') return landed;
  const culprit = layers[red - 1]!.member;
  await sendBackWithTarget(deps, culprit, proof, below);
  batch.drop(culprit);
  return 'landed';
}

/**
 * Lands proven layers if their gates still notice faults. Otherwise finds the lowest layer with which they do not, lands
 * what is below, and holds the task of that layer for a person.
 */
async function landSeen(
  deps: EngineDeps,
  batch: Batch,
  stack: Stack,
  { prover, target }: MergeTools,
  prove: (count: number, tries: 'once') => Promise<Proof>,
): Promise<Landed> {
  const { base, layers } = stack;
  const look = (count: number) => {
    const parts = layers.slice(0, count);
    return blindGates(deps, prover, batch.head, { commit: parts.at(-1)!.trial, base, parts });
  };
  const blind = await look(layers.length);
  if (blind.length === 0) return landJudged(deps, batch, stack, { prover, target });
  const red = await firstRed(layers.length, async (count) => (await look(count)).length === 0);
  const culprit = layers[red - 1]!;
  const isBelowProven = red > 1 && (await prove(red - 1, 'once')).kind === 'passed';
  const landed = isBelowProven
    ? await landJudged(deps, batch, { base, layers: layers.slice(0, red - 1) }, { prover, target })
    : 'waiting';
  if (landed === 'again') return landed;
  await holdBlind(deps, culprit, blind);
  batch.drop(culprit.member);
  return landed;
}

/** The same one by one, where each must pass: a later layer may mend what an earlier one breaks. Null: none fails. */
async function firstFailing(size: number, passes: (count: number) => Promise<boolean>): Promise<number | null> {
  for (let count = 1; count <= size; count += 1) if (!(await passes(count))) return count;
  return null;
}

/** How many of the lowest layers it takes to fail, given that all of them do. */
async function firstRed(size: number, passes: (count: number) => Promise<boolean>): Promise<number> {
  let green = 0;
  let red = size;
  while (red - green > 1) {
    const middle = Math.floor((green + red) / 2);
    if (await passes(middle)) green = middle;
    else red = middle;
  }
  return red;
}

async function repaired(deps: EngineDeps, stack: Stack, tree: string): Promise<BuiltWork> {
  if (stack.layers.length > 1) throw new NotTogether('a gate fixed files of a batch');
  const { base, layers } = stack;
  const { member, files } = layers[0]!;
  const message = `Candidate of #${member.task.number}`;
  const commit = await deps.workspace.seal(member.ref, { tree, base }, message);
  return { commit, tree, files, base, own: taskGates(member.task) };
}
