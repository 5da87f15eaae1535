import {
  type Delivery,
  type DeliveryOverride,
  deliveryRef,
  type EnvironmentRules,
  type EventBody,
  isBusyDelivery,
  isOpenDelivery,
  type Project,
} from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { withdrawnQuestions } from '../subject/questions.ts';
import { askApproval } from './ask.ts';
import { about, alertAbout, environmentAfter } from './find.ts';
import { proofFrom, type TreeProof } from './proof.ts';
import { environmentOf, LOOKED_THROUGH, lacksAfter, unknownEnvironment } from './rules.ts';

type Request = CommandOf<'delivery.request'>;

/**
 * A landed commit has to get to an environment. Gates without a receipt for its tree run before it begins. Refused when one of
 * them is known to fail, unless a person overrides that by name.
 */
export function requestDelivery(slice: Slice, command: Request, env: DecideEnv): Decision {
  const project = slice.projects.get(command.projectId);
  if (!project) return refuse('not_found', `there is no project ${command.projectId}`);
  if (slice.record('delivery', command.deliveryId)) return accept();
  const rules = environmentOf(project, command.environment);
  if (!rules) return unknownEnvironment(project, command.environment);
  const { by, override } = command;
  const isPerson = by.kind === 'person' || by.kind === 'token';
  if (override !== null && !isPerson) return refuse('forbidden', 'only a person may override what a delivery needs');
  const open = openIn(slice, command);
  // Tidemill's own requests wait: what landed meanwhile is part of the next one.
  if (!isPerson && (open.length > 0 || wasTried(slice, command))) return accept();
  const replaced = replacing(open, command);
  if ('ok' in replaced) return replaced;
  const proof = proofOf(slice, project, command);
  const missingAfter = command.cause === 'rollback' ? null : lacksAfter(slice, project, rules, command.commit);
  const lack = lackOf(command, proof.failed, missingAfter);
  if (lack && override === null) return lack;
  const isOverridden = override !== null && (lack !== null || proof.missing.length > 0);
  const accepted: DeliveryOverride | null = isOverridden
    ? { gates: proof.missing, after: missingAfter, by, why: override }
    : null;
  const unproven = isOverridden ? [] : proof.missing;
  const delivery = deliveryFrom(project, rules, command, {
    env,
    evidence: proof.evidence,
    unproven,
    override: accepted,
  });
  const isAsked = delivery.status === 'waiting';
  return accept(
    ...replaced.flatMap((old) => superseded(slice, old, delivery)),
    { type: 'delivery.requested', ...about(delivery), delivery },
    ...(isAsked ? askApproval(slice, project, delivery, env) : []),
    ...(rules.approve === 'notify_and_proceed' && !isPerson ? [noticeOf(delivery)] : []),
  );
}

const openIn = (slice: Slice, { projectId, environment }: Request): Delivery[] =>
  slice
    .list('openRecordsOf', `environment/${projectId}/${environment}`)
    .filter((record) => record.noun === 'delivery')
    .filter(isOpenDelivery);

/** Tidemill does not try the same commit twice: what failed or was declined needs a person, or a newer commit. */
const wasTried = (slice: Slice, { projectId, environment, commit }: Request): boolean =>
  slice
    .list('newestRecordsOf', `environment/${projectId}/${environment}`, 'delivery', LOOKED_THROUGH)
    .some((each) => each.noun === 'delivery' && each.commit === commit && each.status !== 'superseded');

/** The open ones that the new request replaces. One that runs is left alone; one that waits for a person's help is replaced. */
function replacing(open: Delivery[], { replaces }: Request): Delivery[] | Extract<Decision, { ok: false }> {
  const waiting = open.filter(
    (each) => !isBusyDelivery(each) || each.status === 'rollback_failed' || each.status === 'asking',
  );
  const unseen = waiting.find(({ id }) => !replaces.includes(id));
  if (unseen) return refuse('conflict', `${deliveryRef(unseen.number)} was requested meanwhile`, 'try again');
  return waiting;
}

function superseded(slice: Slice, old: Delivery, next: Delivery): EventBody[] {
  const why = `${deliveryRef(next.number)} takes its place`;
  const isLeft = isBusyDelivery(old);
  const status = isLeft ? (old.status === 'rollback_failed' ? 'rollback_failed' : 'failed') : 'superseded';
  const now = isLeft ? environmentAfter(old, 'unknown', old.previous) : null;
  return [{ type: 'delivery.ended', ...about(old), status, why, now }, ...withdrawnQuestions(slice, old.id, why)];
}

/** The receipts of the tree. A commit that was healthy there before needs no new ones. */
function proofOf(slice: Slice, project: Project, { tree, commit, cause, environment }: Request): TreeProof {
  if (cause === 'rollback') {
    const before = slice
      .list('newestRecordsOf', `environment/${project.id}/${environment}`, 'delivery', LOOKED_THROUGH)
      .find((each) => each.noun === 'delivery' && each.commit === commit && each.status === 'healthy');
    if (before?.noun === 'delivery') return { evidence: before.evidence, missing: [], failed: [] };
  }
  return proofFrom(project, slice.list('evidenceFor', project.id, tree));
}

const OVERRIDE = 'or override it with a reason: `tidemill deliver … --override "why"`';

function lackOf({ commit, environment }: Request, failed: string[], after: string | null) {
  const name = commit.slice(0, 10);
  if (failed.length > 0)
    return refuse(
      'evidence_missing',
      `${name} fails ${failed.join(', ')} under the present settings`,
      `deliver a commit that passes, ${OVERRIDE}`,
    );
  if (after !== null)
    return refuse(
      'conflict',
      `${environment} comes after ${after}, and ${after} is not healthy with ${name}`,
      `run \`tidemill deliver ${after}\` first, ${OVERRIDE}`,
    );
  return null;
}

function deliveryFrom(
  project: Project,
  { approve }: EnvironmentRules,
  command: Request,
  { env, ...proof }: { env: DecideEnv } & Pick<Delivery, 'evidence' | 'unproven' | 'override'>,
): Delivery {
  const { deliveryId: id, environment, commit, tree, tasks, taskCount, cause, specId, by, isApproved } = command;
  const isPerson = by.kind === 'person' || by.kind === 'token';
  const mayBegin = approve !== 'requires_approval' || (isApproved && isPerson);
  return {
    noun: 'delivery',
    id,
    projectId: project.id,
    number: project.nextDelivery,
    environment,
    commit,
    tree,
    tasks,
    taskCount,
    ...proof,
    cause,
    specId,
    approve,
    approved: approve === 'requires_approval' && mayBegin ? { by, at: env.now } : null,
    status: mayBegin ? 'requested' : 'waiting',
    why: mayBegin ? '' : 'it waits for approval',
    previous: null,
    owner: null,
    stop: null,
    steps: [],
    phase: 0,
    by,
    requestedAt: env.now,
    startedAt: null,
    endedAt: null,
  };
}

const noticeOf = (delivery: Delivery): EventBody =>
  alertAbout(
    delivery,
    'delivery_notice',
    'info',
    `${deliveryRef(delivery.number)} brings ${delivery.commit.slice(0, 10)} to ${delivery.environment}. Stop it with \`tidemill deliver stop ${deliveryRef(delivery.number)}\`.`,
  );
