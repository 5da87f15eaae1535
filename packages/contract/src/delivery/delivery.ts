import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { GateCounts } from '../gate/gate.ts';
import { recordKind } from '../record/kind.ts';
import { Approval } from '../task/autonomy.ts';
import { DeliveryTrigger } from './config.ts';

/**
 *   requested ──▶ waiting (for a yes) ──▶ requested ──▶ running ──▶ checking ──▶ healthy
 *       │            └──no──▶ declined                     │           │
 *       ├── a newer request ──▶ superseded                 └── failed ─┴──▶ rolling_back ──▶ rolled_back
 *       └── stopped ──▶ cancelled                              │                └──▶ rollback_failed
 *                                                              └── nothing to go back to ──▶ failed
 *   cut short by a crash: checked; then it goes on, rolls back, or is asking a person
 */
export const DeliveryStatus = z.enum([
  'waiting',
  'requested',
  'running',
  'checking',
  'rolling_back',
  'asking',
  'healthy',
  'failed',
  'rolled_back',
  'rollback_failed',
  'declined',
  'cancelled',
  'superseded',
]);
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

const OPEN: readonly DeliveryStatus[] = ['waiting', 'requested', 'running', 'checking', 'rolling_back', 'asking'];
const BUSY: readonly DeliveryStatus[] = ['running', 'checking', 'rolling_back', 'asking'];
type Ending = Pick<Delivery, 'status' | 'endedAt'>;
/** A failed rollback stays open until a person has answered what follows. */
const isLeft = ({ status, endedAt }: Ending) => status === 'rollback_failed' && endedAt === null;
export const isOpenDelivery = (delivery: Ending): boolean => OPEN.includes(delivery.status) || isLeft(delivery);
/** It has begun and not ended: no other one may begin there. */
export const isBusyDelivery = (delivery: Ending): boolean => BUSY.includes(delivery.status) || isLeft(delivery);

/** A commit that was healthy in an environment, and the delivery that brought it. */
export const LiveCommit = z.object({
  commit: z.string(),
  tree: z.string(),
  deliveryId: z.string(),
  number: z.number().int(),
  since: z.number(),
});
export type LiveCommit = z.infer<typeof LiveCommit>;

/** A landed task that is part of a delivery. */
export const DeliveredTask = z.object({
  taskId: z.string(),
  number: z.number().int(),
  title: z.string(),
  commit: z.string(),
});
export type DeliveredTask = z.infer<typeof DeliveredTask>;

/** A receipt with which its tree passed a gate. */
const DeliveryProof = z.object({
  gate: z.string(),
  hash: z.string(),
  /** The tests that ran, if the gate says so. */
  counts: GateCounts.nullable().default(null),
});

export const DeliveryStepKind = z.enum([
  'prove',
  'prepare',
  'run',
  'workflow',
  'health',
  'rollback',
  'rollback_health',
]);
export type DeliveryStepKind = z.infer<typeof DeliveryStepKind>;

export const DeliveryStep = z.object({
  kind: DeliveryStepKind,
  /** The command as the settings have it, or the address that is checked. Without secrets. */
  name: z.string(),
  /** `not_started`: it did not begin, so it changed nothing. */
  result: z.enum(['running', 'passed', 'failed', 'timed_out', 'stopped', 'not_started', 'interrupted']),
  startedAt: z.number(),
  endedAt: z.number().nullable(),
  /** One line about the result. */
  note: z.string(),
});
export type DeliveryStep = z.infer<typeof DeliveryStep>;
/** It may have changed the environment. */
export const isChangingStep = ({ kind, result }: Pick<DeliveryStep, 'kind' | 'result'>): boolean =>
  (kind === 'run' || kind === 'workflow' || kind === 'rollback') && result !== 'not_started';

/** What a person accepted although it is usually refused. */
export const DeliveryOverride = z.object({
  /** Gates without a passing receipt for the tree. */
  gates: z.array(z.string()),
  /** The earlier environment that does not have the commit. */
  after: z.string().nullable(),
  by: Actor,
  why: z.string(),
});
export type DeliveryOverride = z.infer<typeof DeliveryOverride>;

/** A landed commit on its way to an environment, or there. */
export const Delivery = z.object({
  noun: z.literal('delivery'),
  id: z.string(),
  projectId: z.string(),
  /** Shown as D3. */
  number: z.number().int(),
  environment: z.string(),
  commit: z.string(),
  tree: z.string(),
  /** What it brings: tasks that landed since the commit that was there before. The newest, at most 200. */
  tasks: z.array(DeliveredTask),
  taskCount: z.number().int(),
  /** The receipts that prove its tree. */
  evidence: z.array(DeliveryProof),
  /** Gates without a receipt for its tree. They run first, and nothing else does before they have passed. */
  unproven: z.array(z.string()).default([]),
  override: DeliveryOverride.nullable(),
  cause: z.enum([...DeliveryTrigger.options, 'rollback']),
  /** The specification that it follows, if that is its cause. */
  specId: z.string().nullable(),
  approve: Approval,
  approved: z.object({ by: Actor, at: z.number() }).nullable(),
  status: DeliveryStatus,
  /** Why it has this status. */
  why: z.string(),
  /** The last healthy commit when it began. */
  previous: LiveCommit.nullable(),
  /** The process that carries it out. */
  owner: z.string().nullable(),
  /** A person asked for its end. */
  stop: z.object({ by: Actor, at: z.number() }).nullable(),
  steps: z.array(DeliveryStep),
  /** The position of the first step since its status changed. */
  phase: z.number().int(),
  by: Actor,
  requestedAt: z.number(),
  startedAt: z.number().nullable(),
  endedAt: z.number().nullable(),
});
export type Delivery = z.infer<typeof Delivery>;
export const deliveryRef = (number: number) => `D${number}`;
export const MOST_DELIVERED_TASKS = 200;

export const deliveryKind = recordKind(Delivery, (delivery) => ({
  parent: environmentId(delivery.projectId, delivery.environment),
  isOpen: isOpenDelivery(delivery),
  dueAt: null,
}));

/** What an environment has, as far as is known. */
export const DeliveryEnvironment = z.object({
  noun: z.literal('environment'),
  id: z.string(),
  projectId: z.string(),
  name: z.string(),
  /** `unknown` after a delivery whose rollback did not work, or that had nothing to go back to. */
  state: z.enum(['healthy', 'unknown']),
  /** The last commit that was healthy there. */
  live: LiveCommit.nullable(),
});
export type DeliveryEnvironment = z.infer<typeof DeliveryEnvironment>;
export const environmentId = (projectId: string, name: string) => `environment/${projectId}/${name}`;
export const environmentKind = recordKind(DeliveryEnvironment, ({ projectId }) => ({
  parent: projectId,
  isOpen: false,
  dueAt: null,
}));

/** The answers to the questions about a delivery. */
export const DELIVERY_ANSWERS = {
  approve: 'Approve',
  decline: 'Decline',
  live: 'It is live',
  rollBack: 'Roll back',
  again: 'Run it again',
  leave: 'Leave it',
} as const;
