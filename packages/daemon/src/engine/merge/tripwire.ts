import { approvedBlindness, blindnessOf, mutantText } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import type { Prover } from '../stages/prove.ts';
import type { BlindGate } from '../tripwire/planting.ts';
import type { LeasedTask } from '../workers/leased-work.ts';

/** The work of a task in what is about to land. */
export interface LandingPart {
  member: LeasedTask;
  files: string[];
}

/**
 * Plants a fault in a throw-away copy of proven work. Returns the gates that do not notice it any more, and those that the
 * work passes only where it is proven, without those for which a person approved exactly this work.
 */
export async function blindGates(
  deps: EngineDeps,
  prover: Prover,
  asker: LeasedTask,
  { commit, base, parts }: { commit: string; base: string; parts: LandingPart[] },
): Promise<BlindGate[]> {
  const gates = await prover.tripwires.gatesFor(commit, 'quick');
  if (gates.length === 0) return [];
  const approved = new Set<string>();
  for (const { member, files } of parts) {
    if (member.task.approvedPulls.length === 0) continue;
    const content = await contentOf(deps, { member, files });
    for (const gate of approvedBlindness(member.task, content)) approved.add(gate);
  }
  const asked = gates.filter((gate) => !approved.has(gate));
  asker.isTesting = true;
  try {
    const { signal, control, watch } = asker;
    const candidate = { commit, base, asker: { signal, control, watch } };
    const blind = await prover.tripwires.blindAmong(candidate, asked);
    const seeing = asked.filter((gate) => !blind.some((each) => each.gate === gate));
    const found = [...blind, ...(await prover.tripwires.failingElsewhere(candidate, seeing))];
    // Gates that were stopped have no result.
    asker.check();
    return found;
  } finally {
    asker.isTesting = false;
    asker.sign();
  }
}

/** Nothing of the task lands until a person has looked at it. */
export async function holdBlind(deps: EngineDeps, { member, files }: LandingPart, blind: BlindGate[]): Promise<void> {
  const { target } = deps.project.rules;
  const names = blind.map(({ gate }) => gate);
  const content = await contentOf(deps, { member, files });
  const is = names.length === 1 ? 'gate' : 'gates';
  const isOnlyElsewhere = blind.every(({ isElsewhere }) => isElsewhere);
  const what = isOnlyElsewhere
    ? `this work passes the ${is} ${names.join(', ')} only where it is proven`
    : `with this work the ${is} ${names.join(', ')} no longer ${names.length === 1 ? 'notices' : 'notice'} faults`;
  await member.must({
    type: 'merge.ask',
    about: blindnessOf(names, content),
    text: `${what}. Nothing landed. Let it land?`,
    context: blind.map((found) => blindText(found, target)).join('\n\n'),
    approves: `The ${is} may pass on exactly this work. Look first for code that ${isOnlyElsewhere ? 'asks where it runs' : 'changes assertions or ends the tests'}: \`git diff ${target}...${member.ref.branch}\`.`,
  });
}

/** Identifies the work, also on a newer target. */
const contentOf = async ({ workspace, hash }: EngineDeps, { member, files }: LandingPart): Promise<string> =>
  hash(await workspace.changeIn(member.ref, files)).slice(0, 32);

export function blindText({ gate, mutants, tests, isElsewhere }: BlindGate, target: string): string {
  if (isElsewhere)
    return `Gate ${gate} passed in the proof of this work. It failed twice on the same files where \`CI\` was not set, the folder had another path, and the commit message was that of landed work. ${target} passes it there.`;
  if (tests !== undefined)
    return `With this work, ${tests} more ${tests === 1 ? 'test' : 'tests'} of gate ${gate} passed than on ${target} in throw-away copies in which every line of the product was broken on purpose. Other tests of the gate noticed it.`;
  const faults = mutants.map((mutant) => `- ${mutant.file} was broken on purpose (${mutantText(mutant)})`);
  const what = faults.length > 0 ? faults.join('\n') : '- every source file was given a syntax error';
  return `Gate ${gate} passed in a throw-away copy of this work although:\n${what}\nOn ${target} the same makes it fail.`;
}
