import { type Delivery, deliveryRef, type Evidence, type Project } from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { chain, newestByGate } from '../gate/evidence.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { about, ownDelivery } from './find.ts';

export interface TreeProof {
  evidence: Delivery['evidence'];
  /** Gates without a passing receipt. */
  missing: string[];
  /** Those of them that ran on the tree and failed. */
  failed: string[];
}

/** What the receipts of a tree say under the present settings. */
export function proofFrom({ rules }: Project, links: Evidence[]): TreeProof {
  const newest = newestByGate(links, rules.gateConfigs);
  const missing = rules.gates.filter((gate) => newest.get(gate)?.status !== 'pass');
  const passed = rules.gates.flatMap((gate) => newest.get(gate) ?? []).filter(({ status }) => status === 'pass');
  return {
    evidence: passed.map(({ gate, hash, counts }) => ({ gate, hash, counts })),
    missing,
    failed: missing.filter((gate) => newest.get(gate)?.status === 'fail'),
  };
}

/** Its owner ran the gates on a clean checkout of exactly its commit. */
export function proveDelivery(slice: Slice, command: CommandOf<'delivery.prove'>, env: DecideEnv): Decision {
  const found = ownDelivery(slice, command);
  if (!found.ok) return found;
  const { delivery } = found;
  const { tree, receipts, projectId } = command;
  const ref = deliveryRef(delivery.number);
  if (delivery.status !== 'running') return refuse('conflict', `${ref} is ${delivery.status}, and is not proven now`);
  if ([command, ...receipts].some((each) => each.tree !== delivery.tree))
    return refuse('conflict', `the gates ran on another tree than that of ${ref}, ${tree.slice(0, 12)}`);
  if (delivery.unproven.length === 0) return accept();
  const project = slice.projects.get(projectId)!;
  const links = chain(project, delivery.id, receipts, env);
  const { evidence, missing } = proofFrom(project, [...slice.list('evidenceFor', projectId, tree), ...links]);
  return accept(...links.map((each) => ({ type: 'evidence.recorded' as const, evidence: each })), {
    type: 'delivery.proven',
    ...about(delivery),
    evidence,
    unproven: missing,
  });
}
