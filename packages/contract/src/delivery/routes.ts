import { z } from 'zod';
import { by, count, get, maxBytes, note, post, project } from '../api/route.ts';
import { CutText } from '../task/view.ts';
import { PlainLine } from '../text/plain-text.ts';
import { DeliveryView, EnvironmentView, ReleaseNotes } from './view.ts';

/** `3`, `D3`, or its id. */
const delivery = z.coerce.string<string | number>().min(1).max(100);
const environment = z.string().min(1).max(100);
/** A commit, a tag or a branch. */
const revision = PlainLine.min(1).max(200);

export const deliveryRoutes = {
  environments: get(
    '/v1/projects/:project/environments',
    'The environments, what is live in each, and what waits',
    z.strictObject({ project }),
    z.array(EnvironmentView),
  ),
  deliveries: get(
    '/v1/projects/:project/deliveries',
    'The deliveries, newest first',
    z.strictObject({
      project,
      environment: environment.optional(),
      task: z.coerce.string<string | number>().min(1).optional(),
      limit: count().min(1).max(1000).default(50),
    }),
    z.array(DeliveryView),
  ),
  delivery: get(
    '/v1/projects/:project/deliveries/:delivery',
    'A delivery with its tasks, evidence, approval and steps',
    z.strictObject({ project, delivery }),
    DeliveryView,
  ),
  deliveryLog: get(
    '/v1/projects/:project/deliveries/:delivery/log',
    'The output of its commands',
    z.strictObject({ project, delivery, maxBytes: maxBytes(10_000_000) }),
    CutText,
  ),
  deliver: post(
    '/v1/projects/:project/deliveries',
    'Requests the delivery of a landed commit to an environment',
    z.strictObject({
      project,
      by,
      environment,
      commit: revision.optional(),
      /** The reason for delivering it without passing evidence, or before the earlier environment has it. */
      override: note.min(1).optional(),
      /** Approves it as well, if it needs approval. */
      approve: z.boolean().default(false),
    }),
    DeliveryView,
    { decides: true },
  ),
  approveDelivery: post(
    '/v1/projects/:project/deliveries/:delivery/approve',
    'Approves a delivery that waits, or declines it',
    z.strictObject({
      project,
      delivery,
      by,
      /** The commit that the person saw. Refused when the delivery is of another one. */
      commit: z.string().min(7).max(64).optional(),
      approved: z.boolean().default(true),
    }),
    DeliveryView,
    { decides: true },
  ),
  stopDelivery: post(
    '/v1/projects/:project/deliveries/:delivery/stop',
    'Stops a delivery: before it began it is cancelled, afterwards its commands are ended and it rolls back',
    z.strictObject({ project, delivery, by }),
    DeliveryView,
    { decides: true },
  ),
  rollBack: post(
    '/v1/projects/:project/environments/:environment/rollback',
    'Puts the commit back that was healthy before the present one',
    z.strictObject({ project, environment, by }),
    DeliveryView,
    { decides: true },
  ),
  releaseNotes: get(
    '/v1/projects/:project/release-notes',
    'What landed between two commits or tags',
    z.strictObject({ project, from: revision.optional(), to: revision.optional() }),
    ReleaseNotes,
  ),
};
